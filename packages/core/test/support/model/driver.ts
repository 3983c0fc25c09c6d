import {
  type Command,
  DriverFault,
  type DriverState,
  expiredScript,
  type LaneRole,
  promoteScript,
  type RedisDriver,
  type Reply,
  type Route,
  type Settled,
  verdictsScript,
} from "@echomq/scripts";
import { ofScript } from "@echomq/testkit";
import type { WorldClock } from "./clock.js";

/** What a worker does of its own accord, at moments nobody can foretell, and the answer it gets instead. */
const QUIET: readonly (readonly [script: { readonly sha: string }, answer: Reply])[] = [
  [promoteScript, [0, 0]],
  [expiredScript, [[], [], 0, 0]],
];

/** A process of the model: all its lanes die together. */
export class Life {
  readonly clock: WorldClock;
  readonly ends = new Set<() => void>();
  /** Set while the process does nothing that the model did not ask for. */
  quiet = false;
  dead = false;

  constructor(clock: WorldClock) {
    this.clock = clock;
  }

  /** As `kill -9`: nothing more is sent, and nobody hears an answer. */
  kill(): void {
    this.dead = true;
    for (const end of this.ends) end();
    this.ends.clear();
  }
}

/** A real driver whose server tells the model's time, and which can die. */
export class ModelDriver implements RedisDriver {
  readonly #inner: RedisDriver;
  readonly #life: Life;
  readonly #role: LaneRole;

  constructor(inner: RedisDriver, life: Life, role: LaneRole = "main") {
    this.#inner = inner;
    this.#life = life;
    this.#role = role;
  }

  get info(): RedisDriver["info"] {
    return this.#inner.info;
  }

  get state(): DriverState {
    return this.#inner.state;
  }

  async command(args: Command, route?: Route): Promise<Reply> {
    if (this.#life.dead) throw gone();
    const name = String(args[0]).toUpperCase();
    if (name === "TIME") return this.#life.clock.time();
    const answer = this.#life.quiet ? this.#quietly(args, name) : undefined;
    if (answer !== undefined) return answer;
    return this.#inner.command(args, route);
  }

  async pipeline(commands: readonly Command[], route?: Route): Promise<readonly Settled<Reply>[]> {
    if (this.#life.dead) return commands.map(() => ({ ok: false, error: gone() }));
    return this.#inner.pipeline(commands, route);
  }

  async fork(role: LaneRole): Promise<RedisDriver> {
    if (this.#life.dead) throw gone();
    return new ModelDriver(await this.#inner.fork(role), this.#life, role);
  }

  onState(listener: (state: DriverState) => void): () => void {
    return this.#inner.onState(listener);
  }

  async close(mode?: "drain" | "now"): Promise<void> {
    if (this.#role === "blocking") for (const end of this.#life.ends) end();
    await this.#inner.close(mode);
  }

  #quietly(command: Command, name: string): Reply | Promise<Reply> | undefined {
    // Never woken: the model says when a worker looks.
    if (name === "BZPOPMIN") {
      return new Promise((_, reject) => this.#life.ends.add(() => reject(gone())));
    }
    const call = { command, name, role: this.#role, pipelined: false };
    const known = QUIET.find(([script]) => ofScript(script)(call));
    if (known !== undefined) return known[1];
    if (!ofScript(verdictsScript)(call)) return undefined;
    return Array.from(
      { length: Number(command.at(-1) === undefined ? 0 : itemsOf(command)) },
      () => null,
    );
  }
}

/** Rows of the one table of `verdicts`: what follows its keys is their count, then the ids. */
function itemsOf(command: Command): number {
  return Number(command[3 + Number(command[2])]);
}

function gone(): DriverFault {
  return new DriverFault("closed", "the process was killed");
}
