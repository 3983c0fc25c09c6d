import { publishScript } from "@echomq/scripts";
import { EVENT_CODES, queueName, utf8Length } from "@echomq/wire";
import { LazySession } from "../connection/lazy.js";
import type { ConnectionOptions } from "../connection/types.js";
import { toJson } from "../job/payload.js";
import { nameText, readable, record, refuse, shown } from "../options/check.js";
import { CONNECTION_KEYS, checkConnectionOptions } from "../queue/options.js";
import type { CustomEvents, CustomEventsOf } from "./types.js";

/** Largest custom event, name and payload together, in bytes: one entry of the stream. */
const EVENT_MAX = 60_000;

/** Names that mean something else to a listener. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.values(EVENT_CODES),
  ..."deduplicated ready gap error closed newListener removeListener".split(" "),
]);

/** Tells events of one's own to the `QueueEvents` of a queue, in order with the queue's. */
export class QueueEventsProducer<C extends CustomEventsOf<C> = CustomEvents> {
  readonly name: string;
  readonly #session: LazySession;

  /** @throws ValidationError `VALIDATION` naming the option. */
  constructor(name: string, options: ConnectionOptions) {
    this.name = queueName(name);
    checkConnectionOptions(record("options", options, CONNECTION_KEYS));
    this.#session = new LazySession(this.name, options);
  }

  /**
   * Tells one event, at most once, and returns its id `<entry>:<index>`; empty where the queue keeps no
   * events. What is given besides `eventName` is the payload, up to 60 000 bytes of JSON.
   * @throws ValidationError `VALIDATION`; `FenceError`, or `ServerError` where it is not known whether
   * the event was told.
   */
  async publishEvent<E extends Extract<keyof C, string>>(
    event: { readonly eventName: E } & C[E],
  ): Promise<string> {
    if (typeof event !== "object" || event === null) {
      return refuse("event", `must be an object, got ${shown(event)}`);
    }
    const { eventName, ...rest } = readable("event", () => ({ ...event }));
    const name = nameText("eventName", eventName);
    if (TAKEN.has(name)) refuse("eventName", `${name} is an event of the queue itself`);
    const payload = toJson("event", rest);
    const bytes = utf8Length(name) + utf8Length(payload);
    if (bytes > EVENT_MAX) {
      refuse("event", `must be at most ${EVENT_MAX} bytes of JSON with its name, has ${bytes}`);
    }
    const session = await this.#session.get("QueueEventsProducer.publishEvent");
    const call = { q: this.name, args: {}, messages: [{ name, payload }] };
    const entry = await session.write(publishScript, call, "QueueEventsProducer.publishEvent");
    return entry === "" ? "" : `${entry}:0`;
  }

  /** Ends the connection. Never rejects. */
  close(): Promise<void> {
    return this.#session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
