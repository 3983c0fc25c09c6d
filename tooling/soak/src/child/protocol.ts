import type { DriverName } from "../args.js";

/** What a child is started with. */
export interface ChildSettings {
  readonly role: "worker" | "producer";
  readonly name: string;
  readonly url: string;
  readonly driver: DriverName;
  readonly queue: string;
  /** A queue that is obliterated now and then. */
  readonly side: string;
  /** Where letters go. */
  readonly letters: string;
  readonly folder: string;
  readonly seed: number;
  readonly leaseMs: number;
  /** Adds in a second, of a producer. */
  readonly rate: number;
}

/** What a child is told. */
export type Order =
  | { readonly type: "pause" | "resume" | "stop" }
  /** Ends by itself, within `ms`. */
  | { readonly type: "close"; readonly ms: number }
  | { readonly type: "shift"; readonly ms: number };

/** What a child tells: it is at work. */
export type News = "ready";

/** Waits between two records that are longer than this are noted: the machine itself stood still, in ms. */
export const GAP_MS = 400;
