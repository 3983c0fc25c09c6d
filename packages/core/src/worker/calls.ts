import {
  beginScript,
  type Dispatcher,
  finishScript,
  type ReplyOf,
  stepScript,
  type ToldJob,
  turnScript,
} from "@echomq/scripts";
import { unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import { NO_TEXTS } from "../lists.js";
import type { Rate } from "../options/rate.js";
import type { Keep } from "../options/retention.js";
import type { Guess } from "./hints.js";
import { letterFor } from "./letter.js";
import type { Settlement } from "./outcome.js";
import type { Run } from "./run.js";
import { keepOfAll } from "./settle-batch.js";

const NO_RESULTS: readonly Settlement[] = [];

/** What a claim asks for. */
export interface ClaimRequest {
  readonly count: number;
  readonly token: string;
  readonly leaseMs: number;
  /** Ids expected next: their hashes are read in the same call if they are popped. */
  readonly guess: Guess;
  /** How many of the claimed start at once; what is claimed ahead of a free slot is not begun yet. */
  readonly begun: number;
}

/** One claimed job. */
export interface Claimed {
  readonly id: string;
  /** Its hash, empty where the claim did not declare it. */
  readonly fields: readonly (string | null)[];
  /** Why it must not run, null where it may. */
  readonly verdict: string | null;
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
  ): Promise<ReplyOf<typeof stepScript.spec>> {
    return this.#lane.run(stepScript, {
      q: this.#session.q,
      done: idsOf(plain),
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
    const keeps = plain.length > 0 && keepOfAll(plain, "completed").count > 0;
    return this.#lane.run(turnScript, {
      q,
      done: idsOf(plain),
      candidates: claim.guess.candidates,
      finished: keeps ? [unitKey(q, "completed")] : NO_TEXTS,
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

/** What `step` answered. */
export function stepped(reply: ReplyOf<typeof stepScript.spec>): Advance {
  const { statuses, hints, bury, reason, due } = reply;
  const claimed: Claimed[] = [];
  for (const { id, verdict, fields } of reply.claimed) claimed.push({ id, verdict, fields });
  return { statuses, claimed, hints, bury, reason, due };
}

/** What `turn` answered, in the shape of `step`'s; `due` as it was last known. */
export function turned(
  reply: ReplyOf<typeof turnScript.spec>,
  plain: readonly Settlement[],
  { count, guess: { candidates } }: ClaimRequest,
  due: number,
): Advance {
  const claimed: Claimed[] = [];
  const told = reply.claimed;
  for (let at = 0; at < told.length; at += 1) {
    const { id, fields } = told[at] as ToldJob;
    // The id as it was sent: the other is a part of the reply, and kept would keep all of it.
    const same = candidates[at] === id ? at : candidates.indexOf(id);
    claimed.push({ id: candidates[same] ?? id, verdict: null, fields });
  }
  let { statuses } = reply;
  if (statuses === null) {
    const all: string[] = [];
    for (let at = 0; at < plain.length; at += 1) all.push("ok");
    statuses = all;
  }
  // Only `step` knows whether a queue is empty.
  const reason = claimed.length < count ? "more" : "";
  return { statuses, claimed, hints: reply.hints ?? NO_TEXTS, bury: NO_TEXTS, reason, due };
}

function idsOf(plain: readonly Settlement[]): string[] {
  const ids: string[] = [];
  for (const { run } of plain) ids.push(run.id);
  return ids;
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
