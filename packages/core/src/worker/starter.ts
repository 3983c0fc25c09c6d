import { EchoMQError } from "@echomq/wire";
import { isJobId } from "../ids/is-job-id.js";
import { fieldsOfRun } from "../job/fields.js";
import { shown } from "../options/check.js";
import type { Ahead } from "./ahead.js";
import type { RunBook } from "./book.js";
import type { Begun, Claimed, WorkerCalls } from "./calls.js";
import { Chain } from "./chain.js";
import type { EngineHost } from "./host.js";
import type { WorkerSettings } from "./options.js";
import { doomed, released, type Settlement } from "./outcome.js";
import { Run } from "./run.js";

/** What a starter needs of the engine. */
export interface Slots {
  /** False while claimed jobs must go back instead of being run. */
  open(): boolean;
  /** How many handlers may run at once. */
  count(): number;
  /** Slots have become free, or there is something to settle. */
  freed(count: number): void;
  stumble(error: unknown): void;
}

/** How long a run claimed ahead may go on before the server is told that it began, in ms. */
const MARK_MS = 20;

/**
 * Starts what was claimed: runs the handler where the fields came along, begins the rest first. What
 * was claimed ahead of a free slot stands ready and starts as soon as one is.
 */
export class Starter {
  readonly #calls: WorkerCalls;
  readonly #book: RunBook;
  readonly #settings: WorkerSettings;
  readonly #host: EngineHost;
  readonly #slots: Slots;
  readonly #ahead: Ahead;
  #ready: Run[] = [];
  readonly #unmarked = new Chain<Run>();
  #marking: NodeJS.Timeout | undefined;
  /** Handlers that run now, and claimed jobs that are begun first. */
  #running = 0;
  #beginning = 0;

  constructor(
    calls: WorkerCalls,
    book: RunBook,
    settings: WorkerSettings,
    host: EngineHost,
    slots: Slots,
    ahead: Ahead,
  ) {
    this.#calls = calls;
    this.#book = book;
    this.#settings = settings;
    this.#host = host;
    this.#slots = slots;
    this.#ahead = ahead;
  }

  /** Slots that no claimed job waits for. */
  get spare(): number {
    const held = this.#running + this.#beginning + this.#ready.length;
    return Math.max(this.#slots.count() - held, 0);
  }

  /** Claimed jobs that wait for a slot. */
  get ready(): number {
    return this.#ready.length;
  }

  /** Claimed jobs that are begun in a call of their own. */
  get beginning(): number {
    return this.#beginning;
  }

  /** Gives back what stands ready and has not started. */
  giveBackReady(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (const run of ready) this.#book.settle(released(run));
    if (ready.length > 0) this.#slots.freed(ready.length);
  }

  stop(): void {
    clearInterval(this.#marking);
    this.#marking = undefined;
  }

  /** `leaseEnds` is in monotonic ms; the first `begun` of the claimed are known to begin now,
   * `claimedAt` in server ms. */
  start(
    claimed: readonly Claimed[],
    token: string,
    leaseEnds: number,
    begun: number,
    claimedAt: number,
  ): void {
    const bare: Run[] = [];
    let wanted = this.#settings.byHand ? this.spare : claimed.length;
    for (let at = 0; at < claimed.length; at += 1) {
      const { id, verdict, fields } = claimed[at] as Claimed;
      const run = new Run(id, token, leaseEnds, claimedAt);
      run.begun = fields.length === 0 || at < begun;
      this.#book.add(run);
      // Whoever comes with fields was named in the claim.
      const usable = fields.length > 0 || isJobId(id);
      // Together, so that they keep their order: those who wanted them have gone.
      if (verdict === null && usable && wanted-- <= 0) this.#unwanted(run);
      else if (fields.length > 0) this.#start(run, fields, verdict);
      else if (usable) bare.push(run);
      else this.#unusable(run);
    }
    if (bare.length > 0) void this.#begin(bare);
  }

  #unwanted(run: Run): void {
    this.#book.settle(released(run));
    this.#slots.freed(1);
  }

  /** No call can name it, and one that tried would take the others of its batch down. */
  #unusable(run: Run): void {
    this.#book.drop(run);
    const message = `wait holds ${shown(run.id)}, which is no job id; it was left in active`;
    const { queue } = this.#book;
    this.#host.trouble(new EchoMQError({ code: "STORED_ID", message, op: "claim", queue }));
    this.#slots.freed(1);
  }

  async #begin(runs: readonly Run[]): Promise<void> {
    let slots = runs.length;
    this.#beginning += slots;
    const answered = (): void => {
      this.#beginning -= slots;
      slots = 0;
    };
    try {
      const reply = await this.#calls.begin(runs);
      answered();
      for (const [at, run] of runs.entries()) this.#begun(run, reply[at]);
      // Where one of them does not start, its slot is another's.
      this.startReady();
      this.#slots.freed(0);
    } catch (error) {
      answered();
      // Not begun, so not charged: given back now if the server answers, else by the sweep.
      for (const run of runs) this.#book.settle(released(run));
      this.startReady();
      this.#slots.freed(runs.length);
      this.#slots.stumble(error);
    }
  }

  #begun(run: Run, answer: Begun | undefined): void {
    if (answer?.status === "ok") {
      this.#start(run, answer.fields, answer.verdict);
      return;
    }
    if (answer?.status === "lost") this.#book.lose(run, "stolen");
    // A member without a hash: the script has cleared its lease.
    else this.#book.drop(run);
    this.#slots.freed(1);
  }

  #start(run: Run, values: readonly (string | null)[], verdict: string | null): void {
    run.fields = fieldsOfRun(values);
    if (!this.#slots.open() || run.lost || verdict !== null) {
      this.#book.settle(verdict === null ? released(run) : doomed(run, verdict, this.#settings));
      this.#slots.freed(1);
      return;
    }
    // Whoever is being begun has its slot.
    if (this.#running + this.#beginning < this.#slots.count()) {
      this.#execute(run);
    } else if (this.#settings.byHand) {
      this.#unwanted(run);
    } else {
      this.#ready.push(run);
    }
  }

  #execute(run: Run): void {
    this.#running += 1;
    if (!run.begun) this.#watch(run);
    if (this.#ahead.on) run.started = performance.now();
    this.#host.execute(run, this.#done);
  }

  readonly #done = (run: Run, end: Settlement | null): void => {
    this.#running -= 1;
    if (this.#ahead.on) this.#ahead.took(performance.now() - run.started);
    this.#marked(run);
    if (end) this.#book.settle(end);
    this.startReady();
    this.#slots.freed(1);
  };

  /** Starts what stands ready while there are slots. */
  startReady(): void {
    while (this.#running + this.#beginning < this.#slots.count()) {
      const run = this.#ready.shift();
      if (run === undefined) return;
      if (run.lost) this.#slots.freed(1);
      else this.#execute(run);
    }
  }

  /** A run claimed ahead that goes on for a while is marked as begun, so that its death is charged. */
  #watch(run: Run): void {
    run.unmarked = this.#unmarked.add(run);
    this.#marking ??= setInterval(() => this.#mark(), MARK_MS);
  }

  #marked(run: Run): void {
    if (run.unmarked) this.#unmarked.take(run.unmarked);
    run.unmarked = undefined;
  }

  #mark(): void {
    if (this.#unmarked.size === 0) {
      this.stop();
      return;
    }
    const byToken = new Map<string, Run[]>();
    for (const run of this.#unmarked)
      byToken.set(run.token, [...(byToken.get(run.token) ?? []), run]);
    for (const run of this.#unmarked) this.#marked(run);
    for (const runs of byToken.values()) {
      // A lost lease is told by the next renewal, and its end is refused anyway.
      this.#calls.begin(runs).catch((error: unknown) => this.#host.trouble(error));
    }
  }
}
