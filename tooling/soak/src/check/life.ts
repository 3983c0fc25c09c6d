import type { Happened } from "../history.js";

/** Where a job stands by the events so far. */
export type Stand = "none" | "line" | "delayed" | "active" | "completed" | "failed" | "removed";

/** From where an event may come, and where it leads; events that move nothing are not named. */
const MOVES: Readonly<
  Partial<Record<Happened["code"], { readonly from: readonly Stand[]; readonly to: Stand }>>
> = {
  // Also back in line: released, cancelled, given another place, or retried when it had ended.
  w: { from: ["none", "line", "delayed", "active", "completed", "failed", "removed"], to: "line" },
  d: { from: ["none", "delayed", "active", "completed", "failed", "removed"], to: "delayed" },
  // A claim that was given back unbegun is told nowhere.
  a: { from: ["line", "active"], to: "active" },
  c: { from: ["active"], to: "completed" },
  f: { from: ["active"], to: "failed" },
  r: { from: ["active"], to: "line" },
  s: { from: ["active"], to: "line" },
  // Named with the state it stood in, which is in line for a claim that was given back.
  x: { from: ["none", "line", "delayed", "active", "completed", "failed"], to: "removed" },
};

/** Walks through the events of one job; `wrong` is the first that cannot have come where it did. */
export function walk(events: readonly Happened[]): {
  readonly stand: Stand;
  readonly wrong: string | undefined;
  /** How often it ended. */
  readonly ends: number;
} {
  let stand: Stand = "none";
  let ends = 0;
  for (const { code, at, value } of events) {
    const move = MOVES[code];
    if (move === undefined) continue;
    if (!move.from.includes(stand) || (code === "x" && value === "active")) {
      return { stand, ends, wrong: `at ${at} "${code}" came while it was ${stand}` };
    }
    stand = move.to;
    if (code === "c" || code === "f") ends += 1;
  }
  return { stand, ends, wrong: undefined };
}
