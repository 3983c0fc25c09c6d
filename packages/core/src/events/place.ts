import { refuse, shown } from "../options/check.js";

/** A place in the stream: behind event `index` of an entry, or behind all of it. */
export interface Place {
  readonly entry: string;
  readonly index?: number;
}

/** Before everything. */
export const START: Place = { entry: "0-0" };

/**
 * Reads a `lastEventId`; undefined is now.
 * @throws ValidationError `VALIDATION` naming `lastEventId`.
 */
export function checkPlace(value: unknown): Place | undefined {
  if (value === undefined || value === "$") return undefined;
  if (typeof value === "string") {
    const found = /^(\d{1,16})(?:-(\d{1,16}))?(?::(\d{1,9}))?$/.exec(value);
    if (found) {
      const entry = `${found[1]}-${found[2] ?? "0"}`;
      return found[3] === undefined ? { entry } : { entry, index: Number(found[3]) };
    }
  }
  return refuse("lastEventId", `must be $, <entry> or <entry>:<index>, got ${shown(value)}`);
}

/** A place as an event's id. */
export function idOf({ entry, index }: Place): string {
  return index === undefined ? entry : `${entry}:${index}`;
}

/** Compares ids of stream entries: below 0 where `a` is older. */
export function compareEntries(a: string, b: string): number {
  const [aMs = 0, aSeq = 0] = a.split("-").map(Number);
  const [bMs = 0, bSeq = 0] = b.split("-").map(Number);
  return aMs - bMs || aSeq - bSeq;
}
