import type { EchoMQError } from "@echomq/wire";
import type { ConnectionOptions } from "../connection/types.js";

/** Options of a `QueueEvents`. */
export interface QueueEventsOptions extends ConnectionOptions {
  /**
   * Where to go on: `<entry>:<index>` or `<entry>` as given with an event, `0-0` for all there is.
   * Default `$`, what happens from now on.
   */
  readonly lastEventId?: string | undefined;
  /** Whether it starts by itself. Default true. */
  readonly autorun?: boolean | undefined;
}

/** Payloads of the queue's own events. What was too large for the stream is absent when its job is gone. */
export interface QueueEventPayloads {
  waiting: { readonly jobId: string; readonly name?: string };
  /** `delay` is the due time in server ms. */
  delayed: { readonly jobId: string; readonly delay: number };
  active: { readonly jobId: string };
  completed: { readonly jobId: string; readonly returnvalue?: unknown };
  /** No attempt is left. */
  failed: { readonly jobId: string; readonly failedReason?: string };
  /** An attempt failed and another follows at once. */
  retried: { readonly jobId: string; readonly failedReason?: string };
  /** The job's worker was lost and the job is back in line. */
  stalled: { readonly jobId: string };
  /** `prev` is the state it stood in, where a verb removed it. */
  removed: { readonly jobId: string; readonly prev?: string };
  /** A job was added with the id of one that stands. */
  duplicated: { readonly jobId: string };
  /** A job was dropped, kept back or replaced; `jobId` is the one that stands. */
  deduplicated: {
    readonly jobId: string;
    readonly deduplicationId: string;
    readonly deduplicatedJobId: string;
  };
  progress: { readonly jobId: string; readonly data?: unknown };
  paused: Record<never, never>;
  resumed: Record<never, never>;
}

/** Events behind `after` may be missing: the stream was trimmed, or replaced, before they were read. */
export interface EventGap {
  /** Id of the last event that was told. */
  readonly after: string;
  /** First stream entry that is still there; absent where there is none. */
  readonly next?: string;
}

/** Payloads of events of one's own, by name: `{ shipped: { orderId: string } }`. */
export type CustomEvents = { readonly [name: string]: object };

/** What {@link CustomEvents} must be, written over their own names so that an `interface` may be them too. */
export type CustomEventsOf<C> = { readonly [E in keyof C]: object };

/** What listeners of a `QueueEvents` are given. The id is `<entry>:<index>`, good for `lastEventId`. */
export type QueueEventsMap<C extends CustomEventsOf<C> = Record<never, never>> = QueueOwnEvents & {
  [E in Exclude<keyof C, number | symbol | keyof QueueOwnEvents>]: [payload: C[E], eventId: string];
};

type QueueOwnEvents = {
  [E in keyof QueueEventPayloads]: [payload: QueueEventPayloads[E], eventId: string];
} & {
  /** The place in the stream is known: nothing from now on is missed. */
  ready: [];
  gap: [gap: EventGap];
  error: [error: EchoMQError];
  closed: [];
};
