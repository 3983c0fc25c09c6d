import { type Dispatcher, getScript, typedError } from "@echomq/scripts";
import { isEchoMQError } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { fieldsOfRun } from "../job/fields.js";
import { type ClaimRequest, WorkerCalls } from "./calls.js";
import { LeaseLostError } from "./errors.js";
import type { EngineHost } from "./host.js";
import { releaseLostClaims } from "./lost-claims.js";
import type { WorkerSettings } from "./options.js";
import { failed, released, type Settlement } from "./outcome.js";
import { Run } from "./run.js";
import { settleBatch } from "./settle-batch.js";
import { Tokens } from "./tokens.js";

/** Concurrency from which two calls may be in flight: below, the second would only split batches. */
const TWO_CALLS_FROM = 10;
/** Waits after trouble, in ms: doubling from the first to the longest. */
const TROUBLE_FIRST_MS = 50;
const TROUBLE_LONGEST_MS = 2_000;

/**
 * Keeps the slots of a worker full. Whatever finished while a call was in flight rides the next call,
 * together with the claim for the slots it freed.
 */
export class Engine {
  readonly #session: Session;
  readonly #lane: Dispatcher;
  readonly #calls: WorkerCalls;
  readonly #settings: WorkerSettings;
  readonly #host: EngineHost;
  readonly #tokens = new Tokens();
  /** Runs whose lease this worker holds, from claim to the answer of their settlement. */
  readonly #owned = new Set<Run>();
  readonly #lostTokens = new Set<string>();
  #pending: Settlement[] = [];
  #hints: readonly string[] = [];
  /** Slots that run, start or are being claimed for. */
  #busy = 0;
  #inFlight = 0;
  #hungry = true;
  #claiming = false;
  /** Something was claimed since the queue was last found empty. */
  #worked = false;
  #scheduled = false;
  #troubles = 0;
  #resting: NodeJS.Timeout | undefined;
  #ended = false;
  /** Called when the engine has free slots and nothing to claim, with the next due time or 0. */
  onIdle: (due: number) => void = () => undefined;
  /** Called when due jobs are known to wait for promotion. */
  onDue: (due: number) => void = () => undefined;
  /** Called with ids whose keys are left to remove. */
  onBury: (ids: readonly string[]) => void = () => undefined;
  #due = 0;
  #onQuiet: () => void = () => undefined;

  constructor(session: Session, lane: Dispatcher, settings: WorkerSettings, host: EngineHost) {
    this.#session = session;
    this.#lane = lane;
    this.#calls = new WorkerCalls(session, lane);
    this.#settings = settings;
    this.#host = host;
  }

  get owned(): ReadonlySet<Run> {
    return this.#owned;
  }

  get free(): number {
    return this.#claiming ? Math.max(this.#settings.concurrency - this.#busy, 0) : 0;
  }

  get idle(): boolean {
    return !this.#hungry && this.#claiming && this.free > 0;
  }

  /** There may be work: look, beginning with this id if one is known. */
  wake(id?: string): void {
    if (id !== undefined) this.#hints = [id];
    this.#hungry = true;
    this.#schedule();
  }

  /** Lets the engine claim, or only finish what it has. */
  claim(on: boolean): void {
    this.#claiming = on;
    if (on) this.wake();
  }

  /** Drops a run whose lease is over; whatever it returns is not written. */
  lose(run: Run, error: LeaseLostError): void {
    if (!this.#owned.delete(run)) return;
    run.controller.abort(error);
    this.#host.lost(run, error);
  }

  /** Ends a run by a settlement from outside its handler. */
  settle(settlement: Settlement): void {
    if (!this.#owned.has(settlement.run) || settlement.run.settling) return;
    settlement.run.settling = true;
    this.#pending.push(settlement);
    this.#schedule();
  }

  /** Resolves when nothing runs and nothing is left to settle, or when `signal` aborts. */
  quiet(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
      this.#schedule();
    });
  }

  /** Stops at once and writes nothing more. */
  abandon(): void {
    this.#ended = true;
    this.#owned.clear();
    clearTimeout(this.#resting);
  }

  /** Ends what has ended and gives the rest back, as far as the server answers in `ms`. Never rejects. */
  async giveBack(ms: number): Promise<void> {
    const known = new Map(this.#pending.map((settlement) => [settlement.run, settlement]));
    let left = [...this.#owned].map((run) => known.get(run) ?? released(run));
    this.abandon();
    while (left.length > 0) {
      const { plain, other, rest } = settleBatch(left);
      left = [...rest];
      for (const page of [plain, other].filter(({ length }) => length > 0)) {
        await this.#calls
          .finish(page, this.#session.clock.read(), { retryMs: ms, timeoutMs: ms })
          .catch((error: unknown) => this.#host.trouble(error));
      }
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#ended) return;
    this.#scheduled = true;
    // A microtask later, so that runs which end together settle together.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#owned.size === 0 && this.#inFlight === 0) this.#onQuiet();
    if (this.#resting !== undefined || this.#ended) return;
    const most = this.#settings.concurrency >= TWO_CALLS_FROM ? 2 : 1;
    if (this.#inFlight >= most) return;
    const count = this.#hungry || this.#pending.length > 0 ? this.free : 0;
    if (count === 0 && this.#pending.length === 0) {
      if (this.idle) this.onIdle(this.#due);
      return;
    }
    const batch = settleBatch(this.#pending);
    this.#pending = [...batch.rest];
    this.#busy += count;
    this.#inFlight += 1;
    const token = this.#tokens.next();
    const candidates = this.#hints.slice(0, count);
    const claim = { count, token, candidates, leaseMs: this.#settings.leaseMs };
    void this.#call(batch.plain, batch.other, claim)
      .then(
        () => this.#relax(),
        (error: unknown) => this.#stumble(error),
      )
      .finally(() => {
        this.#inFlight -= 1;
        this.#schedule();
      });
  }

  async #call(
    plain: readonly Settlement[],
    other: readonly Settlement[],
    claim: ClaimRequest,
  ): Promise<void> {
    const started = performance.now();
    let taken = 0;
    try {
      await this.#session.fence.open(this.#lane, this.#session.clock);
      const now = await this.#session.clock.now();
      // Both are written to the connection in one go; neither waits for the other.
      const [finished, stepped] = await Promise.allSettled([
        other.length > 0 ? this.#calls.finish(other, now) : null,
        plain.length > 0 || claim.count > 0 ? this.#calls.step(plain, claim, now) : null,
      ]);
      if (stepped.status === "fulfilled" && stepped.value !== null) {
        taken = stepped.value.claimed.length;
        if (claim.count > 0) this.#take(stepped.value, claim, started);
        await this.#answered(plain, stepped.value);
      }
      if (finished.status === "fulfilled" && finished.value !== null) {
        await this.#answered(other, finished.value);
      }
      if (finished.status === "rejected") this.#unanswered(other, finished.reason);
      if (stepped.status === "rejected") {
        if (unknownOutcome(stepped.reason)) this.#lostTokens.add(claim.token);
        throw stepped.reason;
      }
      if (finished.status === "rejected") throw finished.reason;
    } catch (error) {
      this.#unanswered([...plain, ...other], error);
      // The next call asks the fence, which names the code or opens an emptied server anew.
      if (isEchoMQError(error, "EMQFENCE")) this.#session.fence.forget(this.#lane);
      throw error;
    } finally {
      this.#busy -= claim.count - taken;
    }
  }

  #take(
    reply: Awaited<ReturnType<WorkerCalls["step"]>>,
    claim: ClaimRequest,
    started: number,
  ): void {
    this.#hints = reply.hints;
    this.#due = reply.due;
    if (reply.due > 0) this.onDue(reply.due);
    const short = reply.claimed.length < claim.count;
    if (short) {
      if (reply.reason === "empty" && this.#worked) this.#host.drained();
      this.#worked = false;
    }
    if (reply.claimed.length > 0) this.#worked = true;
    this.#hungry = !short;
    const bare: Run[] = [];
    for (const { id, verdict, fields } of reply.claimed) {
      const run = new Run(id, claim.token, started + claim.leaseMs);
      this.#owned.add(run);
      if (fields.length > 0) this.#start(run, fields, verdict);
      else bare.push(run);
    }
    if (bare.length > 0) void this.#begin(bare);
  }

  async #begin(runs: readonly Run[]): Promise<void> {
    try {
      const reply = await this.#calls.begin(runs);
      for (const [at, run] of runs.entries()) this.#begun(run, reply[at]);
    } catch (error) {
      // Not begun, so not charged: given back now if the server answers, else by the sweep.
      this.#busy -= runs.length;
      for (const run of runs) this.settle(released(run));
      this.#stumble(error);
    }
    this.#schedule();
  }

  #begun(run: Run, answer: Awaited<ReturnType<WorkerCalls["begin"]>>[number] | undefined): void {
    if (answer?.status === "ok") {
      this.#start(run, answer.fields, answer.verdict);
      return;
    }
    this.#busy -= 1;
    if (answer?.status === "lost") this.lose(run, new LeaseLostError(run.id, "stolen"));
    // A member without a hash: the script has cleared its lease.
    else this.#owned.delete(run);
  }

  #start(run: Run, values: readonly (string | null)[], verdict: string | null): void {
    run.fields = fieldsOfRun(values);
    if (!this.#claiming || this.#ended || verdict !== null) {
      this.#busy -= 1;
      this.settle(verdict === null ? released(run) : this.doomed(run, verdict));
      return;
    }
    void this.#host.execute(run).then((settlement) => {
      this.#busy -= 1;
      if (settlement) this.settle(settlement);
      else this.#schedule();
    });
  }

  /** The end of a job that must not run (again). */
  doomed(run: Run, verdict: string): Settlement {
    const why =
      verdict === "stalled"
        ? "job stalled more often than allowed: its worker died or froze while it ran"
        : `job ended without running: ${verdict}`;
    return { ...failed(run, new Error(why), this.#settings), how: "failed", delay: 0 };
  }

  async #answered(
    sent: readonly Settlement[],
    reply: { readonly statuses: readonly string[]; readonly bury: readonly string[] },
  ): Promise<void> {
    if (reply.bury.length > 0) this.onBury(reply.bury);
    for (const [at, settlement] of sent.entries()) {
      const status = reply.statuses[at] ?? "";
      const { run } = settlement;
      const written =
        status === "ok" || (settlement.doubt && (await this.#wasWritten(run, status)));
      if (!this.#owned.delete(run)) continue;
      if (written) this.#host.settled(settlement);
      else {
        const loss = status.startsWith("EMQMISSING") ? "removed" : "stolen";
        const error = new LeaseLostError(run.id, loss);
        run.controller.abort(error);
        this.#host.lost(run, error);
      }
    }
  }

  /** After a lost reply `EMQSTALE` means unknown, probably done: look before reporting. */
  async #wasWritten(run: Run, status: string): Promise<boolean> {
    if (!status.startsWith("EMQSTALE")) return false;
    const call = { q: this.#session.q, jobs: [run.id], args: {} };
    const found = (await this.#session.main.run(getScript, call).catch(() => null))?.[0];
    // Gone is what a removing retention leaves; another owner or a new turn is what a lost lease does.
    return (
      !found || found.state === "completed" || found.state === "failed" || found.state === "delayed"
    );
  }

  #unanswered(sent: readonly Settlement[], error: unknown): void {
    const waiting = new Set(this.#pending);
    for (const settlement of sent) {
      if (!this.#owned.has(settlement.run) || waiting.has(settlement)) continue;
      settlement.doubt ||= unknownOutcome(error);
      this.#pending.push(settlement);
    }
  }

  #relax(): void {
    this.#troubles = 0;
    if (this.#lostTokens.size === 0) return;
    const tokens = new Set(this.#lostTokens);
    this.#lostTokens.clear();
    void releaseLostClaims(this.#session, tokens).catch((error: unknown) => {
      for (const token of tokens) this.#lostTokens.add(token);
      this.#host.trouble(error);
    });
  }

  #stumble(error: unknown): void {
    const typed = typedError(error, "work");
    if (typed.name === "FenceError") {
      this.#host.fatal(typed);
      return;
    }
    this.#host.trouble(typed);
    this.#troubles += 1;
    const wait = Math.min(TROUBLE_FIRST_MS * 2 ** (this.#troubles - 1), TROUBLE_LONGEST_MS);
    clearTimeout(this.#resting);
    this.#resting = setTimeout(
      () => {
        this.#resting = undefined;
        this.#hungry = true;
        this.#schedule();
      },
      wait / 2 + (Math.random() * wait) / 2,
    );
  }
}

function unknownOutcome(error: unknown): boolean {
  return isEchoMQError(error, "CONNECTION_LOST") || isEchoMQError(error, "TIMEOUT");
}
