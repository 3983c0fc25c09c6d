import { type Dispatcher, typedError } from "@echomq/scripts";
import { isEchoMQError, LIMITS } from "@echomq/wire";
import { BusyWait } from "../connection/busy-wait.js";
import type { Session } from "../connection/session.js";
import { Turnstile } from "../connection/turnstile.js";
import { settled, within } from "../connection/within.js";
import { NO_TEXTS } from "../lists.js";
import type { Keep } from "../options/retention.js";
import { Ahead } from "./ahead.js";
import { type Owned, RunBook, unknownOutcome } from "./book.js";
import { type Advance, type ClaimRequest, stepped, turned, WorkerCalls } from "./calls.js";
import type { LeaseLoss } from "./errors.js";
import { giveBack } from "./give-back.js";
import { type Guess, Hints } from "./hints.js";
import type { EngineHost } from "./host.js";
import { Lean } from "./lean.js";
import { LostClaims } from "./lost-claims.js";
import type { WorkerSettings } from "./options.js";
import type { Settlement } from "./outcome.js";
import { Pace } from "./pace.js";
import { Rest } from "./rest.js";
import type { Run } from "./run.js";
import { keepOfAll } from "./settle-batch.js";
import { Share } from "./share.js";
import { Starter } from "./starter.js";
import { Tokens } from "./tokens.js";

/**
 * Calls in flight of a worker that holds more than one job. A claim takes half of what it holds at most:
 * one half is worked on here while the server works on the other.
 */
const CALLS = 2;

const NO_GUESS: Guess = { candidates: NO_TEXTS, ask: 0, upTo: 0 };

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
  readonly #book: RunBook;
  readonly #pace: Pace | undefined;
  readonly #starter: Starter;
  readonly #tokens = new Tokens();
  readonly #rest = new Rest();
  readonly #lostClaims: LostClaims;
  readonly #hints = new Hints();
  readonly #lean = new Lean();
  /** Retention of jobs that `turn` kept and nobody has trimmed yet. */
  #owed: Keep | null = null;
  readonly #ahead: Ahead;
  /** Slots that run, start or are being claimed for. */
  #busy = 0;
  /** Jobs that calls in flight claim: free slots are theirs first. */
  #promised = 0;
  readonly #inFlight: Promise<void>[] = [];
  readonly #turnstile = new Turnstile();
  readonly #wait: BusyWait;
  #hungry = true;
  /** Counts wake-ups: one that comes while a claim is in flight may tell of a job the claim missed. */
  #wakes = 0;
  #claiming = false;
  /** The last claim got all it asked for. */
  #plenty = false;
  /** Something was claimed since the queue was last found empty. */
  #worked = false;
  #scheduled = false;
  #ended = false;
  readonly #share = new Share(() => this.#schedule());
  #due = 0;
  #onQuiet: () => void = () => undefined;

  constructor(session: Session, lane: Dispatcher, settings: WorkerSettings, host: EngineHost) {
    this.#session = session;
    this.#lane = lane;
    this.#calls = new WorkerCalls(session, lane, settings.queueRate, settings.deadLetter);
    this.#settings = settings;
    this.#host = host;
    this.#book = new RunBook(session, host);
    this.#wait = new BusyWait(settings.busyWait);
    this.#lostClaims = new LostClaims(session);
    this.#pace = settings.ownRate && new Pace(settings.ownRate, () => this.wake());
    this.#ahead = new Ahead(settings.claimAhead, () => this.#settings.concurrency);
    const slots = {
      open: () => this.#claiming && !this.#ended,
      count: () => this.#settings.concurrency,
      freed: (count: number) => {
        this.#busy -= count;
        this.#schedule();
      },
      stumble: (error: unknown) => this.#stumble(error),
    };
    this.#starter = new Starter(this.#calls, this.#book, settings, host, slots, this.#ahead);
  }

  /** Runs whose lease this worker holds. */
  get owned(): Owned {
    return this.#book.owned;
  }

  get claiming(): boolean {
    return this.#claiming;
  }

  /** Every claim counts: what was claimed ahead would use up the places of others. */
  get #limited(): boolean {
    return this.#lean.limited || this.#pace !== undefined || !!this.#settings.queueRate;
  }

  /** Most jobs held at once: those that run, and those claimed ahead. */
  get #held(): number {
    return this.#settings.concurrency + this.#ahead.size(this.#limited);
  }

  get #free(): number {
    if (!this.#claiming) return 0;
    const held = this.#held;
    return Math.max(Math.min(held - this.#busy, this.#pace?.places ?? held), 0);
  }

  /** There may be work: look, beginning with this id if one is known. */
  wake(id?: string): void {
    if (id !== undefined) this.#hints.woken(id);
    this.#wakes += 1;
    this.#hungry = true;
    // There may be more slots than before.
    this.#starter.startReady();
    this.#schedule();
  }

  /** Lets the engine claim, or only finish what it has. */
  claim(on: boolean): void {
    this.#claiming = on;
    if (on) this.wake();
    else this.#starter.giveBackReady();
  }

  /** Drops a run whose lease is over; whatever it returns is not written. */
  lose(run: Run, loss: LeaseLoss): void {
    this.#book.lose(run, loss);
  }

  /** Ends a run by a settlement from outside its handler. */
  settle(settlement: Settlement): void {
    if (this.#book.settle(settlement)) this.#schedule();
  }

  /** Resolves when nothing runs and nothing is left to settle, or after `ms`. */
  async quiet(ms: number): Promise<void> {
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.#pump();
    await within(quiet, ms);
  }

  /** Stops at once and writes nothing more. */
  abandon(): void {
    this.#end();
    this.#book.clear();
    this.#onQuiet();
  }

  /**
   * Ends what has ended and gives the rest back, as far as the server answers in `ms`; true when it
   * did. Never rejects.
   */
  async giveBack(ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    const left = (): number => Math.max(Math.ceil(until - performance.now()), 0);
    this.#end();
    // What a claim in flight takes must go back too.
    const answered = await within(Promise.all(this.#inFlight), ms);
    const ends = this.#book.clear();
    await giveBack(this.#session, this.#calls, ends, left(), (error) => this.#host.trouble(error));
    if (this.#session.main.ready) await within(this.#lostClaims.release(), left());
    return answered && left() > 0;
  }

  #end(): void {
    this.#ended = true;
    this.#share.stop();
    this.#rest.stop();
    this.#pace?.stop();
    this.#starter.stop();
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
    if (this.#ended || (this.owned.size === 0 && this.#inFlight.length === 0)) this.#onQuiet();
    if (this.#rest.resting || this.#ended) return;
    // What is given back goes in one call after the claims in flight: two would change the order.
    // Whoever fetches by hand may hold no slot, and still end what runs.
    while (this.#underWay < this.#callsMost && this.#send());
  }

  /** Calls that may be in flight at once. */
  get #callsMost(): number {
    if (!this.#claiming || this.#held === 1) return 1;
    // Where others are at work on the queue too, they keep the server busy meanwhile.
    return this.#hints.contended ? 1 : CALLS;
  }

  /** Calls under way; a claim whose jobs are begun in a second call is not over before that. */
  get #underWay(): number {
    return this.#inFlight.length + (this.#hints.contended && this.#starter.beginning > 0 ? 1 : 0);
  }

  /** Sends one call, if there is something to settle or to claim. */
  #send(): boolean {
    if (this.#shares()) return false;
    const free = this.#free;
    const largest = Math.min(Math.ceil(this.#held / this.#callsMost), LIMITS.writeBound);
    const wanted = this.#hungry || this.#book.pending > 0 ? Math.min(free, largest) : 0;
    // A second claim beside one in flight only where there is more than one takes.
    if (this.#inFlight.length > 0 && this.#book.pending === 0 && !this.#plenty) return false;
    const spare = Math.max(this.#starter.spare - this.#promised, 0);
    // Ahead of a free slot only with fields at hand: what is begun in a second call counts as begun.
    const count =
      wanted > spare ? Math.max(spare, Math.min(wanted, this.#hints.known(wanted))) : wanted;
    if (count === 0 && this.#book.pending === 0) {
      if (free > 0 && this.#inFlight.length === 0) this.#host.idle(this.#due);
      return false;
    }
    const batch = this.#book.next();
    this.#busy += count;
    this.#pace?.ask(count);
    const token = this.#tokens.next();
    const guess = count === 0 ? NO_GUESS : this.#hints.guess(count);
    const begun = Math.min(spare, count);
    this.#promised += count;
    const { leaseMs } = this.#settings;
    const claim = { count, token, guess, begun, leaseMs };
    const over = (): void => {
      this.#inFlight.splice(this.#inFlight.indexOf(call), 1);
      this.#schedule();
    };
    const call = this.#call(batch.plain, batch.other, claim).then(
      () => {
        this.#relax();
        over();
      },
      (error: unknown) => {
        this.#stumble(error);
        over();
      },
    );
    this.#inFlight.push(call);
    return true;
  }

  /** True while the next call waits for more to carry: there is work at hand meanwhile. */
  #shares(): boolean {
    return this.#share.waits({
      ahead: this.#claiming ? this.#ahead.size(this.#limited) : 0,
      ready: this.#starter.ready,
      pending: this.#book.pending,
      calls: this.#inFlight.length,
    });
  }

  async #call(
    plain: readonly Settlement[],
    other: readonly Settlement[],
    claim: ClaimRequest,
  ): Promise<void> {
    const started = performance.now();
    const wakes = this.#wakes;
    let taken = 0;
    let drained = false;
    let promised = claim.count;
    const answered = (): void => {
      this.#promised -= promised;
      promised = 0;
    };
    try {
      const { fence, clock } = this.#session;
      // A promise awaited costs a turn of the microtasks, with every call.
      if (!fence.isOpen(this.#lane)) await fence.open(this.#lane, clock);
      const now = clock.known() ?? (await clock.now());
      // Both are written to the connection in one go; neither waits for the other.
      const finishing = other.length > 0 && settled(this.#calls.finish(other, now));
      const stepping = (plain.length > 0 || claim.count > 0) && this.#advance(plain, claim, now);
      const sent = this.#wait.sent(this.#plenty);
      const advanced = stepping ? await stepping : undefined;
      const finished = finishing ? await finishing : undefined;
      this.#wait.answered(sent);
      const gate = this.#turnstile.pass();
      if (gate) await gate;
      answered();
      if (advanced?.status === "fulfilled") {
        taken = advanced.value.claimed.length;
        if (claim.count > 0) drained = this.#take(advanced.value, claim, started, wakes, now);
        const looking = this.#answered(plain, advanced.value);
        if (looking) await looking;
      }
      if (finished?.status === "fulfilled") {
        const looking = this.#answered(other, finished.value);
        if (looking) await looking;
      }
      // After the ends that rode the same call: they came first.
      if (drained) this.#host.drained();
      if (finished?.status === "rejected") this.#book.unanswered(other, finished.reason);
      if (advanced?.status === "rejected") {
        if (claim.count > 0) this.#hints.failed(claim.guess);
        if (claim.count > 0 && unknownOutcome(advanced.reason)) this.#lostClaims.add(claim.token);
        throw advanced.reason;
      }
      if (finished?.status === "rejected") throw finished.reason;
    } catch (error) {
      this.#book.unanswered([...plain, ...other], error);
      throw error;
    } finally {
      answered();
      this.#busy -= claim.count - taken;
      this.#pace?.took(claim.count, taken);
    }
  }

  /** Settles and claims, with as few keys as the queue allows. */
  #advance(
    plain: readonly Settlement[],
    claim: ClaimRequest,
    now: number,
  ): Promise<PromiseSettledResult<Advance>> {
    const keep = keepOfAll(plain, "completed");
    if (this.#settings.queueRate || !this.#lean.fits(plain.length, claim.count, keep)) {
      return this.#step(plain, claim, now, keep);
    }
    return this.#calls.turn(plain, claim, now).then(
      (reply) => {
        if (reply.claimed.length < claim.count) this.#lean.ranShort();
        if (plain.length > 0 && keep.count > 0) this.#owed = keep;
        return { status: "fulfilled", value: turned(reply, plain, claim, this.#due) };
      },
      (reason: unknown) => {
        if (!isEchoMQError(reason, "EMQRETRY")) return { status: "rejected", reason };
        this.#lean.refused();
        return this.#step(plain, claim, now, keep);
      },
    );
  }

  #step(
    plain: readonly Settlement[],
    claim: ClaimRequest,
    now: number,
    keep: Keep,
  ): Promise<PromiseSettledResult<Advance>> {
    const trim = plain.length > 0 ? keep : (this.#owed ?? keep);
    this.#owed = null;
    return this.#calls.step(plain, claim, now, trim).then(
      (reply) => {
        if (claim.count > 0) {
          this.#lean.stepped(reply.claimed.length === claim.count, reply.bury.length);
          if (reply.reason === "paused") this.#lean.paused();
        }
        return { status: "fulfilled", value: stepped(reply) };
      },
      (reason: unknown) => ({ status: "rejected", reason }),
    );
  }

  /** Starts what was claimed; true when the queue was found empty after work. */
  #take(reply: Advance, claim: ClaimRequest, started: number, wakes: number, now: number): boolean {
    const ids: string[] = [];
    for (const { id } of reply.claimed) ids.push(id);
    this.#hints.popped(claim.guess, ids, reply.hints);
    this.#due = reply.due;
    if (reply.due > 0) this.#host.due(reply.due);
    this.#plenty = reply.claimed.length === claim.count;
    const short = !this.#plenty && reply.reason !== "more";
    const drained = short && reply.reason === "empty" && this.#worked;
    this.#worked = reply.claimed.length > 0 || (this.#worked && !short);
    this.#hungry = !short || this.#wakes !== wakes;
    this.#starter.start(reply.claimed, claim.token, started + claim.leaseMs, claim.begun, now);
    return drained;
  }

  #answered(
    sent: readonly Settlement[],
    reply: { readonly statuses: readonly string[]; readonly bury: readonly string[] },
  ): Promise<void> | undefined {
    if (reply.bury.length > 0) this.#host.bury(reply.bury);
    return this.#book.answered(sent, reply.statuses);
  }

  #relax(): void {
    this.#rest.relax();
    this.#releaseLost();
  }

  #releaseLost(): void {
    if (!this.#ended) this.#lostClaims.release().catch((error: unknown) => this.#stumble(error));
  }

  #stumble(error: unknown): void {
    if (this.#ended) return;
    const typed = typedError(error, "work");
    if (typed.name === "FenceError") {
      this.#host.fatal(typed);
      return;
    }
    // The next call asks the fence, which names the code or opens an emptied server anew.
    if (isEchoMQError(typed, "EMQFENCE")) this.#session.fence.forget(this.#lane);
    this.#host.trouble(typed);
    this.#rest.begin(() => {
      this.wake();
      // A paused worker makes no call whose answer would tell that the server is back.
      this.#releaseLost();
    });
  }
}
