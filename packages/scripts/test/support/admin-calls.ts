import type { CallOf, REGISTRY } from "../../src/index.js";
import { ALL, T } from "./bench.js";

type AdminName =
  | "remove"
  | "purge"
  | "close"
  | "wipe"
  | "unschedule"
  | "ended"
  | "added"
  | "retry"
  | "advance"
  | "redelay"
  | "rerank"
  | "cancel"
  | "verdicts"
  | "data"
  | "progress"
  | "log"
  | "owed"
  | "ack";

/** One call of each administrative script that a populated queue takes. */
export function adminCalls(q: string): {
  readonly [N in AdminName]: CallOf<(typeof REGISTRY)[N]>;
} {
  const named = ["a1", "w1", "p1", "d1", "c1", "f1", "k1", "never", "w1"];
  const items = named.map((id) => ({ id }));
  return {
    remove: { q, args: { now: T, only: "", before: ALL }, items },
    purge: { q, args: { now: T, state: "delayed", limit: 2 } },
    close: { q, args: { now: T, force: 1 } },
    wipe: { q, args: {} },
    unschedule: { q, args: { limit: 2 }, records: ["s1", "never", "s1"] },
    ended: { q, args: { state: "completed", before: T, start: 0, count: 10 } },
    added: { q, args: {}, jobs: ["a1", "gone", "f1"] },
    retry: {
      q,
      args: { state: "failed", before: ALL, reset: 1 },
      jobs: ["f1", "c1", "never", "f1"],
    },
    advance: { q, args: { limit: 0 }, jobs: ["d1", "d3", "w0", "never"] },
    redelay: { q, args: { now: T, delay: 1 }, jobs: ["d3", "d1", "w0", "never"] },
    rerank: { q, args: { priority: 4, lifo: 1 }, jobs: ["w1", "p1", "d2", "c1", "never"] },
    cancel: { q, args: { reason: "why" }, items },
    verdicts: { q, args: {}, items: [{ id: "2" }, { id: "never" }] },
    data: { q, args: { token: "t", data: "2" }, jobs: ["a1"] },
    progress: { q, args: { token: "", progress: "50" }, jobs: ["w0"] },
    owed: { q, args: { now: T, limit: 10 } },
    ack: {
      q,
      args: {},
      items: [
        { effect: "e1", due: 0 },
        { effect: "e2", due: T + 9 },
        { effect: "never", due: 0 },
      ],
    },
    log: { q, args: { token: "t", keep: 2 }, jobs: ["a1"], lines: [{ line: "a" }, { line: "b" }] },
  };
}
