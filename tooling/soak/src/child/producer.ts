import { setTimeout as sleep } from "node:timers/promises";
import { type BulkJob, type JobOptions, Queue } from "@echomq/core";
import { Random } from "../random.js";
import type { Plan, Recorder } from "../records.js";
import { connectionFor } from "./connection.js";
import type { ChildSettings, Order } from "./protocol.js";
import { trueNow } from "./shift.js";

/** Jobs that wait beyond which a producer waits too. */
const BACKLOG = 600;
/** Ids this producer remembers, to act on. */
const REMEMBERED = 300;
/** How often each thing is done. */
const OPS = {
  add: 60,
  tick: 12,
  bulk: 8,
  own: 6,
  dedup: 14,
  side: 8,
  cancel: 3,
  remove: 3,
  promote: 2,
  priority: 3,
  delay: 2,
  retry: 2,
  clean: 1,
  unlock: 1,
  look: 2,
  promoteJobs: 0.5,
  drainSide: 0.7,
  obliterateSide: 0.5,
} as const;

type Op = keyof typeof OPS;
type Data = { readonly [name: string]: { readonly data: Plan; readonly result: unknown } };

/** A producer process: adds jobs of every kind, and acts on those it added. */
export class Producer {
  readonly #settings: ChildSettings;
  readonly #recorder: Recorder;
  readonly #random: Random;
  readonly #main: Queue<Data>;
  readonly #side: Queue<Data>;
  readonly #ids: string[] = [];
  readonly #flying = new Set<Promise<void>>();
  #count = 0;
  #stopped = false;

  constructor(settings: ChildSettings, recorder: Recorder) {
    this.#settings = settings;
    this.#recorder = recorder;
    this.#random = new Random(settings.seed);
    const connection = connectionFor(settings.url, settings.driver);
    const options = { connection, commandTimeout: 1_500, retryTime: 3_000 };
    this.#main = new Queue<Data>(settings.queue, options);
    this.#side = new Queue<Data>(settings.side, options);
  }

  hear(order: Order): void {
    if (order.type === "stop" || order.type === "close") this.#stopped = true;
  }

  /** Goes on until it is stopped; then everything that is on its way ends, and the process with it. */
  async run(): Promise<void> {
    const gap = 1_000 / this.#settings.rate;
    for (let n = 0; !this.#stopped; n += 1) {
      if (n % 50 === 0) await this.#breathe();
      const op = this.#random.weighted(OPS);
      const work = this.#do(op).catch((error: unknown) => this.#refused(op, error));
      this.#flying.add(work);
      void work.finally(() => this.#flying.delete(work));
      if (this.#flying.size >= 32) await Promise.race(this.#flying);
      await sleep(gap * 2 * this.#random.next());
    }
    await Promise.all(this.#flying);
    await Promise.all([this.#main.close(), this.#side.close()]);
  }

  async #breathe(): Promise<void> {
    while (!this.#stopped) {
      const waiting = await this.#main.count().catch(() => BACKLOG);
      if (waiting < BACKLOG) return;
      await sleep(200);
    }
  }

  async #do(op: Op): Promise<void> {
    const random = this.#random;
    const queue = this.#main;
    const id = this.#ids[random.whole(0, Math.max(this.#ids.length - 1, 0))] ?? "none";
    switch (op) {
      case "add":
        return this.#add(queue, this.#plan());
      case "tick":
        await Promise.all(
          Array.from({ length: random.whole(2, 8) }, () => this.#add(queue, this.#plan())),
        );
        return;
      case "bulk":
        return this.#bulk(Array.from({ length: random.whole(2, 30) }, () => this.#plan()));
      case "own": {
        const plan = this.#plan();
        return this.#add(queue, plan, { jobId: `own:${plan.k}` });
      }
      case "dedup":
        return this.#dedup();
      case "side":
        return this.#add(this.#side, { ...this.#plan(), kept: random.chance(0.5) });
      case "cancel":
        return this.#note(op, id, () => queue.cancel(id, "soak"));
      case "remove":
        return this.#note(op, id, () => queue.remove(id));
      case "promote":
        return this.#note(op, id, async () => (await queue.getJob(id))?.promote());
      case "priority": {
        const options = { priority: random.whole(0, 3), lifo: random.chance(0.3) };
        return this.#note(op, id, async () => (await queue.getJob(id))?.changePriority(options));
      }
      case "delay": {
        const ms = random.whole(0, 2_000);
        return this.#note(op, id, async () => (await queue.getJob(id))?.changeDelay(ms));
      }
      case "retry":
        return this.#note(op, id, async () => (await queue.getJob(id))?.retry("failed"));
      case "clean":
        return this.#note(op, "", () =>
          queue.clean(2_000, 5, random.pick(["completed", "failed"])),
        );
      case "unlock": {
        const name = `d${random.whole(0, 5)}`;
        return this.#note(op, name, () => queue.removeDeduplicationKey(name));
      }
      case "look": {
        await queue.getJobCounts();
        await queue.getJobs(["waiting", "active", "failed"], 0, 20);
        return;
      }
      case "promoteJobs":
        return this.#note(op, "", () => queue.promoteJobs());
      case "drainSide":
        return this.#note(op, "", () => this.#side.drain(random.chance(0.5)), this.#settings.side);
      case "obliterateSide":
        return this.#note(
          op,
          "",
          () => this.#side.obliterate({ force: true }),
          this.#settings.side,
        );
    }
  }

  /** A deduplication of one of the modes: an id has one mode for ever, so that its rules can be told. */
  async #dedup(): Promise<void> {
    const random = this.#random;
    const mode = random.pick(["s", "s", "t", "r", "l", "d"]);
    const id = `${mode}${random.whole(0, 5)}`;
    const rule = {
      s: { id },
      t: { id, ttl: random.whole(100, 1_500), extend: random.chance(0.5) },
      r: { id, replace: true, ttl: 2_000, extend: true },
      l: { id, keepLastIfActive: true },
      // Freed by hand, too.
      d: { id, keepLastIfActive: random.chance(0.5), replace: random.chance(0.5) },
    }[mode];
    const delay = mode === "r" || random.chance(0.2) ? random.whole(100, 800) : 0;
    const plan = { ...this.#plan(), dedup: id, delay };
    await this.#add(this.#main, plan, { deduplication: rule });
  }

  #plan(): Plan {
    const random = this.#random;
    this.#count += 1;
    const attempts = random.pick([1, 1, 1, 2, 3]);
    // Most can succeed; some use up what they have.
    const fails = random.chance(0.25) ? random.whole(1, attempts) : 0;
    const delay = random.chance(0.12) ? random.whole(1, 2_500) : 0;
    const { name } = this.#settings;
    return {
      k: `${name}.${this.#count}`,
      fails,
      attempts,
      first: random.chance(0.15)
        ? random.pick(["later", "wait", "rate", "log", "log", "fatal"])
        : "run",
      workMs: this.#work(),
      priority: random.chance(0.2) ? random.whole(1, 3) : 0,
      lifo: random.chance(0.05),
      delay,
      kept: random.chance(0.6),
      letter: random.chance(0.2),
      ...(random.chance(0.04) ? { ttl: random.whole(200, 3_000) } : {}),
      ...(random.chance(0.04) ? { timeout: random.whole(50, 400) } : {}),
    };
  }

  /** Most are short; a few outlast their lease, which must be renewed. */
  #work(): number {
    const random = this.#random;
    if (random.chance(0.03)) return random.whole(1_000, 2 * this.#settings.leaseMs);
    return random.chance(0.7) ? random.whole(0, 10) : random.whole(10, 300);
  }

  async #add(queue: Queue<Data>, plan: Plan, more: JobOptions = {}): Promise<void> {
    const { write } = this;
    write({ e: "add", at: trueNow(), q: queue.name, plan });
    const { k } = plan;
    try {
      const job = await queue.add("job", plan, { ...this.#options(plan), ...more });
      this.#added(queue, k, job.id);
    } catch (error) {
      write({ e: "refused", at: trueNow(), k, code: codeOf(error) });
    }
  }

  async #bulk(plans: readonly Plan[]): Promise<void> {
    const queue = this.#main;
    for (const plan of plans) this.write({ e: "add", at: trueNow(), q: queue.name, plan });
    const jobs = plans.map((plan): BulkJob<Data> => {
      return { name: "job", data: plan, opts: this.#options(plan) };
    });
    try {
      const added = await queue.addBulk(jobs);
      for (const [at, job] of added.entries()) {
        this.#added(queue, plans[at]?.k ?? "", job.id);
      }
    } catch (error) {
      const code = codeOf(error);
      for (const { k } of plans) this.write({ e: "refused", at: trueNow(), k, code });
    }
  }

  readonly write = (record: Parameters<Recorder["write"]>[0]): void => this.#recorder.write(record);

  #added(queue: Queue<Data>, k: string, id: string): void {
    this.write({ e: "added", at: trueNow(), k, id });
    if (queue !== this.#main) return;
    this.#ids.push(id);
    if (this.#ids.length > REMEMBERED) this.#ids.shift();
  }

  #options(plan: Plan): JobOptions {
    const { attempts, priority, lifo, delay, kept, ttl, timeout, letter } = plan;
    return {
      attempts,
      backoff: this.#random.pick([0, 0, 50, { type: "exponential", delay: 20, jitter: 0.5 }]),
      priority,
      lifo,
      delay,
      removeOnComplete: !kept,
      removeOnFail: !kept,
      ...(ttl === undefined ? {} : { ttl }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(letter ? { deadLetter: { queue: this.#settings.letters } } : {}),
    };
  }

  async #note(
    op: string,
    id: string,
    call: () => Promise<unknown>,
    q: string = this.#settings.queue,
  ): Promise<void> {
    // Before it is sent: whoever is killed meanwhile may have done it.
    this.write({ e: "op", at: trueNow(), op, id, q });
    await call();
  }

  #refused(op: string, error: unknown): void {
    const code = codeOf(error);
    const text = `${op}: ${error instanceof Error ? error.message : String(error)}`;
    this.write({ e: "trouble", at: trueNow(), code, text: text.slice(0, 200) });
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "NONE");
}
