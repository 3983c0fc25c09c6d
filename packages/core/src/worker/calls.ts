import {
  beginScript,
  type Dispatcher,
  finishScript,
  type ReplyOf,
  stepScript,
} from "@echomq/scripts";
import type { Session } from "../connection/session.js";
import type { Settlement } from "./outcome.js";
import type { Run } from "./run.js";
import { keepOfAll } from "./settle-batch.js";

/** What a claim asks for. */
export interface ClaimRequest {
  readonly count: number;
  readonly token: string;
  readonly leaseMs: number;
  /** Ids expected next: their hashes are read in the same call if they are popped. */
  readonly candidates: readonly string[];
}

/** Most hints asked for: beyond, one more round trip is cheaper than the bytes. */
const HINTS_MAX = 16;

/** The worker's calls on its lease lane, which never sends one twice. */
export class WorkerCalls {
  readonly #session: Session;
  readonly #lane: Dispatcher;

  constructor(session: Session, lane: Dispatcher) {
    this.#session = session;
    this.#lane = lane;
  }

  /** Settles completed jobs and claims the next, in one step. */
  step(
    plain: readonly Settlement[],
    claim: ClaimRequest,
    now: number,
  ): Promise<ReplyOf<typeof stepScript.spec>> {
    const keep = keepOfAll(plain, "completed");
    return this.#lane.run(stepScript, {
      q: this.#session.q,
      done: plain.map(({ run }) => run.id),
      candidates: claim.candidates,
      args: {
        now,
        claim: claim.count,
        deadline: now + claim.leaseMs,
        token: claim.token,
        hints: claim.count === 0 ? 0 : Math.min(claim.count, HINTS_MAX),
        keepCount: keep.count,
        keepAge: keep.ageMs,
      },
      results: plain.map(({ run, value }) => ({
        token: run.token,
        atm: run.atm,
        ats: run.ats,
        value,
      })),
    });
  }

  /** Ends runs in any way. */
  finish(
    items: readonly Settlement[],
    now: number,
    options: { readonly retryMs?: number; readonly timeoutMs?: number } = {},
  ): Promise<ReplyOf<typeof finishScript.spec>> {
    const completed = keepOfAll(items, "completed");
    const failed = keepOfAll(items, "failed");
    return this.#lane.run(
      finishScript,
      {
        q: this.#session.q,
        jobs: items.map(({ run }) => run.id),
        args: {
          now,
          keepCount: completed.count,
          keepAge: completed.ageMs,
          failCount: failed.count,
          failAge: failed.ageMs,
        },
        items: items.map(({ run, how, delay, value, stack }) => ({
          token: run.token,
          how,
          atm: run.atm,
          ats: run.ats,
          delay,
          value,
          stack,
        })),
      },
      options,
    );
  }

  /** Starts claimed jobs that came without their fields. All are of one token. */
  begin(runs: readonly Run[]): Promise<ReplyOf<typeof beginScript.spec>> {
    const jobs = runs.map(({ id }) => id);
    const args = { token: runs[0]?.token ?? "" };
    return this.#lane.run(beginScript, { q: this.#session.q, jobs, args });
  }
}
