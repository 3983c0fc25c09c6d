import { QUEUE } from "../keyspace.js";
import type { Stage } from "../stage.js";
import { plural, seconds } from "../view/text.js";
import type { Child } from "./child.js";
import type { FromChild, V2WorkerTask } from "./messages.js";

const CONCURRENCY = 8;
// Short, so that a watcher sees a dead worker's jobs come back.
const LEASE_MS = 3_000;
const SWEEP_MS = 1_000;

interface Member {
  readonly child: Child<V2WorkerTask>;
  completed: number;
  failed: number;
  killed: boolean;
  gone: boolean;
}

/** Two v2 workers, one of which is killed with a job in its hands. */
export class Crew {
  readonly leaseMs: number = LEASE_MS;
  readonly #stage: Stage;
  readonly #members: readonly Member[];
  readonly #recovered = new Set<string>();
  #news: (text: string) => void = () => undefined;

  private constructor(stage: Stage, children: readonly Child<V2WorkerTask>[]) {
    this.#stage = stage;
    this.#members = children.map((child) => {
      const member = { child, completed: 0, failed: 0, killed: false, gone: false };
      child.onMessage((message) => this.#hear(member, message));
      void child.gone.then(() => {
        member.gone = true;
      });
      return member;
    });
  }

  /** Starts the processes; they do nothing yet. */
  static async hire(stage: Stage): Promise<Crew> {
    const hired = [stage.child<V2WorkerTask>("v2-worker"), stage.child<V2WorkerTask>("v2-worker")];
    return new Crew(stage, await Promise.all(hired));
  }

  get pids(): readonly number[] {
    return this.#members.map(({ child }) => child.pid);
  }

  /** Workers whose process lives. */
  get alive(): number {
    return this.#members.filter(({ gone }) => !gone).length;
  }

  /** Jobs of the killed worker that were put back in line. */
  get recovered(): number {
    return this.#recovered.size;
  }

  /** Sets who hears what is worth saying. */
  onNews(listener: (text: string) => void): void {
    this.#news = listener;
  }

  begin(): void {
    const { url, root, options } = this.#stage;
    const { driver } = options;
    const terms = { leaseMs: LEASE_MS, sweepMs: SWEEP_MS, concurrency: CONCURRENCY };
    for (const { child } of this.#members) {
      child.begin({ url, queue: QUEUE, root, driver, ...terms });
    }
  }

  /** Lets those that live finish and end. */
  async dismiss(): Promise<void> {
    const living = this.#members.filter(({ gone }) => !gone);
    await Promise.all(living.map(({ child }) => child.stop()));
  }

  /** One line for each worker. */
  report(): string[] {
    return this.#members.map(
      ({ child, completed, failed, killed }) =>
        `worker ${child.pid} told of ${completed} completed, ${failed} failed` +
        (killed ? ", until it was killed" : ""),
    );
  }

  #hear(member: Member, message: FromChild): void {
    if (message.type === "ended") {
      member.completed += message.completed.length;
      member.failed += message.failed.length;
    } else if (message.type === "recovered") {
      this.#recovered.add(message.id);
    } else if (message.type === "slow") {
      this.#kill(member, message);
    } else if (message.type === "trouble") {
      this.#news(`worker ${member.child.pid}: ${message.text}`);
    }
  }

  /** Kills the worker that has just begun the slow job, once, and only while another can go on. */
  #kill(member: Member, { id, held }: FromChild & { type: "slow" }): void {
    if (this.alive < 2 || this.#members.some(({ killed }) => killed)) return;
    member.killed = true;
    void member.child.kill();
    this.#news(
      `kill -9 worker ${member.child.pid} with ${plural(held, "job")} in its hands, job ${id} among them; ` +
        `their leases end within ${seconds(LEASE_MS)}`,
    );
  }
}
