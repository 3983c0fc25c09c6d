import { setTimeout as sleep } from "node:timers/promises";
import { inspectScript, mendScript } from "@echomq/scripts";
import { unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { bury } from "../job/bury.js";
import type { FindingKind, Findings } from "./report.js";

const OP = "Queue.doctor";
const UNOWNED = "active-without-owner";
/** Most ids of one look, and of one that walks `wait`. */
const BATCH = 100;
const FEW = 5;
/** Pause before a finding is looked at again, in ms. */
const AGAIN_MS = 50;

/** Ids, and how often each was seen in `wait`. */
export type Ids = ReadonlyMap<string, number>;

/** A suspicion: how often the id was seen in `wait`, and what of it looked wrong. */
interface Suspect {
  readonly waits: number;
  readonly missing: boolean;
  readonly twice: boolean;
}

export type Suspects = ReadonlyMap<string, Suspect>;

/** Looks at ids once; those with something wrong are suspects, no more: they may be on their way. */
export async function suspects(
  session: Session,
  ids: Ids,
  looked?: Findings,
): Promise<Map<string, Suspect>> {
  const found = new Map<string, Suspect>();
  const list = [...ids];
  for (let at = 0; at < list.length; at += BATCH) {
    const batch = list.slice(at, at + BATCH);
    if (looked) looked.looked += batch.length;
    const faults = await inspect(session, batch, 0);
    for (const [n, [id, waits]] of batch.entries()) {
      const wrong = faults[n] ?? [];
      const missing = wrong.includes("missing-hash");
      const twice = wrong.includes("two-places");
      if (wrong.length > 0) found.set(id, { waits, missing, twice });
    }
  }
  return found;
}

/**
 * Looks at suspects twice more, each time with `wait` itself in the same step, and tells what stays
 * wrong; with `fix` it is mended. `inLine` says that they were seen in `wait` just now, not a while ago.
 */
export async function verify(
  session: Session,
  ids: Suspects,
  fix: boolean,
  findings: Findings,
  inLine = false,
): Promise<void> {
  // Most were on their way and are in a state now; only the rest is worth a walk.
  const again = [...ids].map(([id, { waits, missing }]) => [id, missing ? waits : 0] as const);
  const still = await suspects(session, new Map(again));
  // Whether it still stands in line besides is told by a walk alone.
  for (const [id, suspect] of inLine ? ids : []) if (suspect.twice) still.set(id, suspect);
  const list = [...still.keys()].map((id) => [id, 0] as const);
  for (let at = 0; at < list.length; at += FEW) {
    if (findings.full) {
      findings.truncated = true;
      return;
    }
    await settle(session, list.slice(at, at + FEW), fix, findings);
  }
}

async function settle(
  session: Session,
  batch: readonly (readonly [string, number])[],
  fix: boolean,
  findings: Findings,
): Promise<void> {
  const before = await inspect(session, batch, 1);
  const doubtful = batch.filter((_, n) => (before[n] ?? []).length > 0);
  if (doubtful.length === 0) return;
  await sleep(AGAIN_MS);
  const after = await inspect(session, doubtful, 1);
  const seen = doubtful.map(([id], n) => ({ id, faults: after[n] ?? [] }));
  const sure = (await withoutOverdue(session, seen)).filter(({ faults }) => faults.length > 0);
  if (sure.length === 0) return;
  const mended = fix ? await mend(session, sure) : new Set<string>();
  for (const { id, faults } of sure) {
    for (const kind of faults) findings.add(kind as FindingKind, { id }, mended.has(id));
  }
}

interface Faulty {
  readonly id: string;
  readonly faults: readonly string[];
}

/** A run whose lease is over is the next sweep's, with an owner or without. */
async function withoutOverdue(session: Session, seen: readonly Faulty[]): Promise<Faulty[]> {
  const unowned = seen.filter(({ faults }) => faults.includes(UNOWNED));
  if (unowned.length === 0) return [...seen];
  const key = unitKey(session.q, "active");
  const commands = unowned.map(({ id }) => ["ZSCORE", key, id]);
  const scores = await session.main.readMany(commands, { key }, { op: OP });
  const now = await session.clock.exact();
  const over = new Set(
    unowned.filter((_, n) => Math.floor(-Number(scores[n])) <= now).map(({ id }) => id),
  );
  return seen.map(({ id, faults }) =>
    over.has(id) ? { id, faults: faults.filter((kind) => kind !== UNOWNED) } : { id, faults },
  );
}

/** Mends, looks once more, and names the ids with nothing left. */
async function mend(
  session: Session,
  sure: readonly { readonly id: string }[],
): Promise<Set<string>> {
  const jobs = sure.map(({ id }) => id);
  const now = await session.clock.exact();
  await session.write(mendScript, { q: session.q, args: { now, least: 0 }, jobs }, OP);
  // What had ended, or was no job any more, went to trash.
  await bury(session, jobs, OP);
  const left = await inspect(
    session,
    jobs.map((id) => [id, 0] as const),
    1,
  );
  // A running job without an owner is overdue now: the next sweep puts it back in line.
  const open = (faults: readonly string[] | undefined): boolean =>
    (faults ?? []).some((kind) => kind !== UNOWNED);
  return new Set(jobs.filter((_, n) => !open(left[n])));
}

async function inspect(
  session: Session,
  batch: readonly (readonly [string, number])[],
  walk: 0 | 1,
): Promise<readonly (readonly string[])[]> {
  const call = {
    q: session.q,
    args: { walk },
    jobs: batch.map(([id]) => id),
    seen: batch.map(([, waits]) => ({ waits: Math.min(waits, 3) })),
  };
  return (await session.read(inspectScript, call, OP)) ?? [];
}
