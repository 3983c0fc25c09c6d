import { check } from "../../src/check/check.js";
import { gather } from "../../src/check/jobs.js";
import type { Happened } from "../../src/history.js";
import type { Plan, Record_, Written } from "../../src/records.js";
import type { Window } from "../../src/windows.js";

const LEASE_MS = 2_500;

const PLAN: Plan = {
  k: "p.1",
  fails: 0,
  attempts: 1,
  first: "run",
  workMs: 0,
  priority: 0,
  lifo: false,
  delay: 0,
  kept: true,
  letter: false,
};

/** The history of a queue, written by hand. Times are ms from nowhere; all of it must be told in order. */
export class Tale {
  readonly #records: Record<string, Record_[]> = {};
  readonly #events: Happened[] = [];
  readonly #windows: Window[] = [];
  readonly completed = new Map<string, number>();
  readonly failed = new Map<string, number>();
  readonly letters = new Set<string>();

  write(who: string, ...records: Record_[]): this {
    this.#records[who] = [...(this.#records[who] ?? []), ...records];
    return this;
  }

  /** A producer adds a job, and it is in line. */
  add(id: string, plan: Partial<Plan> = {}, at = 0): this {
    const whole = { ...PLAN, k: id, ...plan };
    this.write("producer", { e: "add", at, q: "q", plan: whole }, { e: "added", at, k: id, id });
    return this.happen(at, plan.delay ? "d" : "w", id);
  }

  happen(at: number, code: Happened["code"], id: string, value = ""): this {
    this.#events.push({ at, code, id, value });
    return this;
  }

  /** A worker claims a job and its handler begins; the token names the run. */
  start(at: number, id: string, token: string, who = "worker"): this {
    this.happen(at, "a", id);
    return this.write(who, { e: "start", at, id, k: id, token, claimed: at });
  }

  end(
    at: number,
    id: string,
    token: string,
    how: "done" | "failed" = "done",
    who = "worker",
  ): this {
    return this.write(who, { e: "end", at, id, token, how });
  }

  /** A job runs once and completes. */
  run(at: number, id: string, token: string): this {
    this.start(at, id, token).end(at + 1, id, token);
    this.completed.set(id, 1);
    return this.happen(at + 2, "c", id, JSON.stringify({ token }));
  }

  hurt(from: number, to: number, who?: string): this {
    this.#windows.push({ what: "kill", from, to, who });
    return this;
  }

  /** What the checker makes of it. */
  check(): string[] {
    const written: Written[] = Object.entries(this.#records).map(([name, records]) => ({
      name,
      records,
    }));
    const { completed, failed, letters } = this;
    return check({
      q: "q",
      evidence: gather("q", written, this.#events),
      events: this.#events,
      remains: { completed, failed, letters },
      windows: this.#windows,
      leaseMs: LEASE_MS,
    });
  }
}
