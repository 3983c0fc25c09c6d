import { EchoMQError } from "@echomq/wire";
import { isJobId } from "../ids/is-job-id.js";
import { fieldsOfRun } from "../job/fields.js";
import type { RunBook } from "./book.js";
import type { WorkerCalls } from "./calls.js";
import type { EngineHost } from "./host.js";
import type { WorkerSettings } from "./options.js";
import { doomed, released } from "./outcome.js";
import { Run } from "./run.js";

type Claimed = Awaited<ReturnType<WorkerCalls["step"]>>["claimed"];
type BeginReply = Awaited<ReturnType<WorkerCalls["begin"]>>[number];

/** What a starter needs of the engine. */
export interface Slots {
  /** False while claimed jobs must go back instead of being run. */
  open(): boolean;
  /** Slots have become free, or there is something to settle. */
  freed(count: number): void;
  stumble(error: unknown): void;
}

/** Starts what was claimed: runs the handler where the fields came along, begins the rest first. */
export class Starter {
  readonly #calls: WorkerCalls;
  readonly #book: RunBook;
  readonly #settings: WorkerSettings;
  readonly #host: EngineHost;
  readonly #slots: Slots;

  constructor(
    calls: WorkerCalls,
    book: RunBook,
    settings: WorkerSettings,
    host: EngineHost,
    slots: Slots,
  ) {
    this.#calls = calls;
    this.#book = book;
    this.#settings = settings;
    this.#host = host;
    this.#slots = slots;
  }

  /** `leaseEnds` is in monotonic ms. */
  start(claimed: Claimed, token: string, leaseEnds: number): void {
    const bare: Run[] = [];
    for (const { id, verdict, fields } of claimed) {
      const run = new Run(id, token, leaseEnds);
      this.#book.add(run);
      if (fields.length > 0) this.#start(run, fields, verdict);
      else if (isJobId(id)) bare.push(run);
      else this.#unusable(run);
    }
    if (bare.length > 0) void this.#begin(bare);
  }

  /** No call can name it, and one that tried would take the others of its batch down. */
  #unusable(run: Run): void {
    this.#book.drop(run);
    const message = `wait holds ${JSON.stringify(run.id)}, which is no job id; it was left in active`;
    this.#host.trouble(new EchoMQError({ code: "STORED_ID", message, op: "claim" }));
    this.#slots.freed(1);
  }

  async #begin(runs: readonly Run[]): Promise<void> {
    try {
      const reply = await this.#calls.begin(runs);
      for (const [at, run] of runs.entries()) this.#begun(run, reply[at]);
    } catch (error) {
      // Not begun, so not charged: given back now if the server answers, else by the sweep.
      for (const run of runs) this.#book.settle(released(run));
      this.#slots.freed(runs.length);
      this.#slots.stumble(error);
    }
  }

  #begun(run: Run, answer: BeginReply | undefined): void {
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
    void this.#host.execute(run).then((settlement) => {
      if (settlement) this.#book.settle(settlement);
      this.#slots.freed(1);
    });
  }
}
