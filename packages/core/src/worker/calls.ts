import {
  beginScript,
  type Dispatcher,
  finishScript,
  type ReplyOf,
  stepScript,
  turnScript,
} from "@echomq/scripts";
import { unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import type { Rate } from "../options/rate.js";
import type { Keep } from "../options/retention.js";
import type { Guess } from "./hints.js";
import { letterFor } from "./letter.js";
import type { Settlement } from "./outcome.js";
import type { Run } from "./run.js";
import { keepOfAll } from "./settle-batch.js";

const NO_RESULTS: readonly Settlement[] = [];
const NO_IDS: readonly string[] = [];

/** What a claim asks for. */
export interface ClaimRequest {
  readonly count: number;
  readonly token: string;
  readonly leaseMs: number;
  /** Ids expected next: their hashes are read in the same call if they are popped. */
  readonly guess: Guess;
  /** How many of the claimed start at once; what is claimed ahead of a free slot is not begun yet. */
  readonly begun: number;
  /** Slots are left for another claim. */
  readonly more: boolean;
}

/** One claimed job. */
export interface Claimed {
  readonly id: string;
  /** Its hash, empty where the claim did not declare it. */
  readonly fields: readonly (string | null)[];
  /** Why it must not run; a queue where one does is nothing for `turn`. */
  readonly verdict?: string | null;
}

/** What became of one job that was begun. */
export interface Begun {
  /** `ok`, `lost` or `missing`. */
  readonly status: string;
  /** Why it must not run, null where it may. */
  readonly verdict: string | null;
  readonly fields: readonly (string | null)[];
}

/** What `step` and `turn` answer alike. */
export interface Advance {
  /** Per settlement, in order. */
  readonly statuses: readonly string[];
  readonly claimed: readonly Claimed[];
  readonly hints: readonly string[];
  readonly bury: readonly string[];
  /** Why nothing was claimed. */
  readonly reason: string;
  /** Next due time in server ms, 0 for none. */
  readonly due: number;
}

/** The worker's calls on its lease lane, which never sends one twice. */
export class WorkerCalls {
  readonly #session: Session;
  readonly #lane: Dispatcher;
  readonly #rate: Rate | undefined;
  readonly #deadLetter: string | undefined;

  constructor(
    session: Session,
    lane: Dispatcher,
    rate: Rate | undefined,
    deadLetter: string | undefined,
  ) {
    this.#deadLetter = deadLetter;
    this.#session = session;
    this.#lane = lane;
    this.#rate = rate;
  }

  /** Settles completed jobs, claims the next, and trims what is kept to `keep`, in one step. */
  step(
    plain: readonly Settlement[],
    claim: ClaimRequest,
    now: number,
    keep: Keep,
  ): Promise<Advance> {
    return this.#lane.run(stepScript, {
      q: this.#session.q,
      done: plain.map(({ run }) => run.id),
      candidates: claim.guess.candidates,
      args: {
        now,
        claim: claim.count,
        deadline: now + claim.leaseMs,
        token: claim.token,
        begun: claim.begun,
        hints: claim.guess.ask,
        keepCount: keep.count,
        keepAge: keep.ageMs,
        rateMax: this.#rate?.max ?? 0,
        rateMs: this.#rate?.ms ?? 0,
      },
      results: plain.map(({ run, value }) => ({
        token: run.token,
        atm: run.atm,
        ats: run.ats,
        value,
      })),
    });
  }

  /**
   * As {@link step} with the fewest keys, for a queue where nothing special is going on; it says
   * nothing of due jobs and trims nothing.
   * @throws WireError `EMQRETRY` when the queue needs `step`.
   */
  turn(
    plain: readonly Settlement[],
    claim: ClaimRequest,
    now: number,
  ): Promise<ReplyOf<typeof turnScript.spec>> {
    const { q } = this.#session;
    const keeps = keepOfAll(plain, "completed").count > 0;
    return this.#lane.run(turnScript, {
      q,
      done: plain.map(({ run }) => run.id),
      candidates: claim.guess.candidates,
      finished: keeps ? [unitKey(q, "completed")] : [],
      args: {
        now,
        claim: claim.count,
        deadline: now + claim.leaseMs,
        token: claim.token,
        begun: claim.begun,
        hints: claim.guess.ask,
      },
      claims: claimsOf(plain),
      results: plain.some(({ value }) => value !== "") ? plain : NO_RESULTS,
      attempts: keeps ? plain.map(({ run }) => ({ runs: `${run.atm}.${run.ats}` })) : [],
    });
  }

  /** Ends runs in any way. */
  finish(
    items: readonly Settlement[],
    now: number,
    options: { readonly retryMs?: number; readonly timeoutMs?: number } = {},
  ): Promise<ReplyOf<typeof finishScript.spec>> {
    const dedups = new Map<string, number>();
    const lockOf = ({ run }: Settlement): number => {
      const { deid = "" } = run.fields;
      if (!isJobId(deid)) return 0;
      dedups.set(deid, dedups.get(deid) ?? dedups.size + 1);
      return dedups.get(deid) ?? 0;
    };
    const locks = items.map(lockOf);
    const completed = keepOfAll(items, "completed");
    const failed = keepOfAll(items, "failed");
    return this.#lane.run(
      finishScript,
      {
        q: this.#session.q,
        jobs: items.map(({ run }) => run.id),
        dedups: [...dedups.keys()],
        args: {
          now,
          keepCount: completed.count,
          keepAge: completed.ageMs,
          failCount: failed.count,
          failAge: failed.ageMs,
        },
        items: items.map((item, at) => ({
          token: item.run.token,
          how: item.how,
          atm: item.run.atm,
          ats: item.run.ats,
          delay: item.delay,
          value: item.value,
          stack: item.stack,
          lock: locks[at] ?? 0,
          letter: letterFor(this.#session.q, item, this.#deadLetter),
        })),
      },
      options,
    );
  }

  /** Starts claimed jobs that came without their fields. All are of one token. */
  async begin(runs: readonly Run[]): Promise<readonly Begun[]> {
    const ids = runs.map(({ id }) => id);
    const args = { token: runs[0]?.token ?? "" };
    const call = { q: this.#session.q, jobs: ids, args };
    const { statuses, verdicts, jobs } = await this.#lane.run(beginScript, call);
    return jobs.map(({ fields }, at) => ({
      status: statuses?.[at] ?? "ok",
      verdict: verdicts?.[at] ?? null,
      fields,
    }));
  }
}

/** What `turn` answered, in the shape of `step`'s; `short` where it found less than it was asked for. */
export function advanceOf(
  reply: ReplyOf<typeof turnScript.spec>,
  plain: readonly Settlement[],
  { candidates }: Guess,
  short: boolean,
): Omit<Advance, "due"> {
  // The id as it was sent: the other is a part of the reply, and kept would keep all of it.
  const claimed = reply.claimed.map((job, at): Claimed => {
    const same = candidates[at] === job.id ? at : candidates.indexOf(job.id);
    return { id: candidates[same] ?? job.id, fields: job.fields };
  });
  return {
    statuses: reply.statuses ?? plain.map(() => "ok"),
    claimed,
    hints: reply.hints ?? NO_IDS,
    bury: NO_IDS,
    reason: short ? "more" : "",
  };
}

/** The tokens of runs, and how many runs of each stand side by side. */
function claimsOf(plain: readonly Settlement[]): { token: string; count: number }[] {
  const claims: { token: string; count: number }[] = [];
  for (const { run } of plain) {
    const last = claims.at(-1);
    if (last?.token === run.token) last.count += 1;
    else claims.push({ token: run.token, count: 1 });
  }
  return claims;
}
