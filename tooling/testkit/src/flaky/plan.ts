import { createHash } from "node:crypto";
import type { Command, LaneRole } from "@echomq/scripts";

/** A command as a plan sees it. */
export interface FlakyCall {
  readonly command: Command;
  /** The command's name in upper case. */
  readonly name: string;
  readonly role: LaneRole;
  readonly pipelined: boolean;
}

/**
 * What goes wrong:
 * - `offline`: nothing is sent, `DriverFault` `offline`.
 * - `lost`: the server runs it, then the connection goes: `DriverFault` `connection` for this call and
 *   all others in flight on the lane, whose epoch goes up.
 * - `delay`: it is sent after `ms` milliseconds, or when `until` settles.
 * - `late`: the server runs it at once, its reply comes after `ms`, or when `until` settles.
 * - `answer`: nothing is sent, `DriverFault` `reply` with this text.
 */
export type FlakyFault =
  | { readonly kind: "offline" | "lost" }
  | { readonly kind: "delay" | "late"; readonly ms?: number; readonly until?: Promise<unknown> }
  | { readonly kind: "answer"; readonly text: string };

/** Which of the matching calls are hit. */
export interface FlakyCount {
  /** The first one hit, counted from 1 over all lanes. Default 1. */
  readonly nth?: number;
  /** How many in a row are hit. Default 1. */
  readonly times?: number;
}

/** One line of a plan. */
export interface FlakyRule {
  /** Calls that matched so far. */
  readonly seen: number;
  /** Calls that were hit so far. */
  readonly hits: number;
  /** Resolves when the last call it was made for is hit. */
  readonly spent: Promise<void>;
  /** Takes the rule out of the plan. */
  remove(): void;
}

interface Entry {
  readonly when: (call: FlakyCall) => boolean;
  readonly fault: FlakyFault;
  readonly nth: number;
  readonly times: number;
  readonly finish: () => void;
  seen: number;
  hits: number;
}

/** What goes wrong when, for every lane of a flaky driver. Without rules nothing does. */
export class FlakyPlan {
  readonly #entries = new Set<Entry>();

  /** Adds a rule. Where several would hit one call, the first added does. */
  on(when: (call: FlakyCall) => boolean, fault: FlakyFault, count: FlakyCount = {}): FlakyRule {
    let finish = (): void => {};
    const spent = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { nth = 1, times = 1 } = count;
    const entry: Entry = { when, fault, nth, times, finish, seen: 0, hits: 0 };
    this.#entries.add(entry);
    return {
      get seen() {
        return entry.seen;
      },
      get hits() {
        return entry.hits;
      },
      spent,
      remove: () => {
        this.#entries.delete(entry);
      },
    };
  }

  /** The fault of this call, if any. Each rule counts every call it matches. */
  take(call: FlakyCall): FlakyFault | undefined {
    let fault: FlakyFault | undefined;
    for (const entry of this.#entries) {
      if (!entry.when(call)) continue;
      entry.seen += 1;
      const due = entry.seen >= entry.nth && entry.hits < entry.times;
      if (!due || fault !== undefined) continue;
      fault = entry.fault;
      entry.hits += 1;
      if (entry.hits === entry.times) entry.finish();
    }
    return fault;
  }
}

/** Matches a command by its name, in any case, and optionally the lane's role. */
export function ofCommand(name: string, role?: LaneRole): (call: FlakyCall) => boolean {
  const upper = name.toUpperCase();
  return (call) => call.name === upper && (role === undefined || call.role === role);
}

/** Matches the runs of one script, by `EVALSHA` of its SHA-1 or `EVAL` of its source. */
export function ofScript(script: { readonly sha: string }): (call: FlakyCall) => boolean {
  return ({ name, command }) => {
    const text = String(command[1]);
    if (name === "EVALSHA") return text === script.sha;
    return name === "EVAL" && createHash("sha1").update(text).digest("hex") === script.sha;
  };
}
