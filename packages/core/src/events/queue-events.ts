import { setTimeout as sleep } from "node:timers/promises";
import { typedError } from "@echomq/scripts";
import { queueName } from "@echomq/wire";
import { closedError, LazySession } from "../connection/lazy.js";
import { within } from "../connection/within.js";
import { flag, record } from "../options/check.js";
import { CONNECTION_KEYS, checkConnectionOptions } from "../queue/options.js";
import { Emitter } from "./emitter.js";
import { type RawEvent, told } from "./expand.js";
import { checkPlace, idOf, type Place, START } from "./place.js";
import { EventReader, type Found } from "./reader.js";
import type { CustomEventsOf, QueueEventsMap, QueueEventsOptions } from "./types.js";
import { type Ending, keepWatchers, Watchers } from "./watchers.js";

/** First and longest wait after trouble, in ms: doubling. */
const TROUBLE_MS = 100;
const LONGEST_MS = 2_000;
/** How long a close waits for the loop to notice, in ms. */
const CLOSE_MS = 1_000;

type AnyTell = (event: string, ...args: unknown[]) => void;

/**
 * Tells what happens in a queue, wherever it happens, in order. It reads the queue's event stream on a
 * connection of its own and goes on where it was after a reconnect.
 */
export class QueueEvents<C extends CustomEventsOf<C> = Record<never, never>> extends Emitter<
  QueueEventsMap<C>,
  C
> {
  readonly name: string;
  readonly #session: LazySession;
  readonly #from: Place | undefined;
  readonly #watchers: Watchers;
  readonly #closing = new AbortController();
  #place: Place = START;
  /** Id of the last event told; undefined before the first and before the place is known. */
  #last: string | undefined;
  #running: Promise<void> | undefined;
  #loop: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  /** @throws ValidationError `VALIDATION` naming the option. */
  constructor(name: string, options: QueueEventsOptions) {
    super();
    this.name = queueName(name);
    const opts = record("options", options, [...CONNECTION_KEYS, "lastEventId", "autorun"]);
    checkConnectionOptions(opts);
    this.#from = checkPlace(opts.lastEventId);
    const autorun = flag("autorun", opts.autorun) ?? true;
    this.#session = new LazySession(this.name, options);
    this.#watchers = new Watchers(this.name, () => this.run());
    keepWatchers(this, this.#watchers);
    if (autorun) void this.run().catch(() => undefined); // told by the error event
  }

  /** Id of the last event told, for `lastEventId` of a later `QueueEvents`. Undefined before `ready`. */
  get lastEventId(): string | undefined {
    return this.#last;
  }

  /**
   * Starts to read; resolves once the place in the stream is known, so nothing from then on is missed.
   * Trouble on the way is retried.
   * @throws FenceError when the keyspace is not ours, `EchoMQError` `CLOSED` when closed meanwhile.
   */
  run(): Promise<void> {
    if (this.#closed !== undefined)
      return Promise.reject(closedError("QueueEvents.run", this.name));
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    });
    return this.#running;
  }

  /** As {@link run}. */
  waitUntilReady(): Promise<void> {
    return this.run();
  }

  /** Stops telling and ends the connection. Settles in every state of it; never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected override get quiet(): boolean {
    return this.#closing.signal.aborted;
  }

  async #start(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (signal.aborted) throw closedError("QueueEvents.run", this.name);
        const session = await this.#session.get("QueueEvents.run");
        const reader = new EventReader(session, await session.lane("events"));
        await this.#begin(reader).catch(async (error: unknown) => {
          await reader.close();
          throw error;
        });
        return;
      } catch (error) {
        if (signal.aborted) throw closedError("QueueEvents.run", this.name);
        const typed = typedError(error, { op: "QueueEvents.run", queue: this.name });
        this.report(typed);
        if (!typed.transient) throw typed;
        await this.#rest(attempt);
      }
    }
  }

  async #begin(reader: EventReader): Promise<void> {
    const place = this.#from ?? (await reader.now());
    if (this.#closing.signal.aborted) throw closedError("QueueEvents.run", this.name);
    this.#go(place);
    this.#last = idOf(place);
    this.#tell("ready");
    this.#loop = this.#follow(reader);
  }

  async #follow(reader: EventReader): Promise<void> {
    const { signal } = this.#closing;
    let troubles = 0;
    while (!signal.aborted) {
      try {
        const found = await reader.read(this.#place);
        this.#take(found);
        if (!found.more && !signal.aborted) await reader.wait(this.#place);
        troubles = 0;
      } catch (error) {
        if (signal.aborted) return;
        const typed = typedError(error, { op: "events", queue: this.name });
        this.report(typed);
        if (typed.name === "FenceError") {
          void this.close();
          return;
        }
        await this.#rest(troubles);
        troubles += 1;
      }
    }
  }

  #take({ events, fields, gap, next }: Found): void {
    const { signal } = this.#closing;
    if (gap) {
      this.#tell("gap", gap);
      this.#watchers.doubt();
    }
    for (const event of events) {
      if (signal.aborted) return;
      const held = event.referred ? fields.get(event.id) : undefined;
      const { name, payload, eventId } = told(event, held);
      this.#last = eventId;
      this.#tell(name, payload, eventId);
      const ending = endingOf(event, payload, event.referred && held === undefined);
      if (ending) this.#watchers.ended(event.id, ending);
    }
    this.#go(next);
  }

  #go(place: Place): void {
    this.#place = place;
    this.#watchers.at(place);
  }

  async #rest(attempt: number): Promise<void> {
    const ms = Math.min(TROUBLE_MS * 2 ** attempt, LONGEST_MS);
    const { signal } = this.#closing;
    await sleep(ms / 2 + (Math.random() * ms) / 2, undefined, { signal }).catch(() => undefined);
  }

  /** The stream names events by itself, and what their listeners are given. */
  #tell(event: string, ...args: unknown[]): void {
    (this.tell as AnyTell).call(this, event, ...args);
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#watchers.close();
    await this.#session.close("now");
    await within(this.#loop, CLOSE_MS);
    this.#tell("closed");
  }
}

function endingOf(
  { kind }: RawEvent,
  payload: Readonly<Record<string, unknown>>,
  gone: boolean,
): Ending | undefined {
  if (kind === "completed" || kind === "failed") return { how: kind, payload, gone };
  return kind === "removed" ? { how: "removed" } : undefined;
}
