import { KINDS, type Kind, type Unit } from "@echomq/wire";
import type { LazySession } from "../connection/lazy.js";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import { flag, record, whole } from "../options/check.js";
import { held } from "./held.js";
import { suspects, verify } from "./jobs.js";
import { type DoctorOptions, type DoctorReport, Findings } from "./report.js";
import { keys, members, placeOf, typesOf, waiting, waitingCount } from "./scan.js";
import { SeenIds } from "./seen.js";
import { counters, dedups, marker, sequence, trash, unitTypes } from "./structures.js";

export type { DoctorOptions, DoctorReport } from "./report.js";

/** Structures whose members are ids of jobs. */
const UNITS_OF_IDS = [
  "active",
  "owners",
  "prioritized",
  "delayed",
  "priorities",
  "verdicts",
  "waiting-children",
  "held",
  "extras",
  "failed",
  "completed",
] as const satisfies readonly Unit[];

/** Places in the sequence of one priority. */
const PLACES = 2 ** 32;
/** Findings beyond which looking on tells nothing new. */
const LIMIT = 1_000;

/** Looks for what is broken in a queue, in bounded pages, and mends it when asked to. */
export async function doctor(
  lazy: LazySession,
  options: DoctorOptions | undefined,
): Promise<DoctorReport> {
  const opts = record("options", options === undefined ? {} : options, ["fix", "limit"]);
  const fix = flag("options.fix", opts.fix) ?? false;
  const limit = whole("options.limit", opts.limit, 1, 100_000) ?? LIMIT;
  const session = await lazy.get("Queue.doctor");
  const findings = new Findings(limit);
  const pass = await session.fence.check(session.main);
  const at = await session.clock.exact();
  if (pass.state !== "empty") await examine(session, fix, findings);
  const truncated = findings.truncated || findings.full;
  return {
    queue: session.q,
    at,
    ok: !truncated && findings.list.every(({ fixed }) => fixed),
    looked: findings.looked,
    truncated,
    findings: findings.list,
  };
}

async function examine(session: Session, fix: boolean, findings: Findings): Promise<void> {
  const wrong = await unitTypes(session, findings);
  // Scripts refuse a structure of another type: what stands on it cannot be looked at.
  const sound = (...units: readonly Unit[]): boolean => units.every((unit) => !wrong.has(unit));
  if (sound("pc", "limiter")) await counters(session, fix && sound(...MENDED), findings);
  if (sound("trash")) await trash(session, fix && sound("extras"), findings);
  const able = sound(...MENDED);
  const inWait = able ? await line(session, fix, findings) : new SeenIds(0);
  let last = 0;
  for (const unit of able ? UNITS_OF_IDS : []) {
    if (findings.full) break;
    for await (const entries of members(session, unit)) {
      const page = new Map<string, number>();
      for (const [id, value] of entries) {
        if (isJobId(id)) page.set(id, inWait.has(id) ? 1 : 0);
        if (unit === "prioritized") last = Math.max(last, Number(value) % PLACES);
      }
      await verify(session, await suspects(session, page, findings), fix, findings);
      if (findings.full) break;
    }
  }
  if (able && sound("pc", "limiter")) await sequence(session, last, fix, findings);
  if (able && sound("pc", "marker", "events")) await held(session, fix, findings);
  await keyspace(session, inWait, able, fix, findings);
  if (sound("wait", "prioritized", "marker", "active", "delayed", "trash", "owners")) {
    await marker(session, fix && able && sound("events"), findings);
  }
}

/** Structures the scripts read or mend with. */
const MENDED = ["wait", "trash", "meta", ...UNITS_OF_IDS] as const satisfies readonly Unit[];

/** Walks `wait`; which ids were seen there. */
async function line(session: Session, fix: boolean, findings: Findings): Promise<SeenIds> {
  const seen = new SeenIds((await waitingCount(session)) * 1.25);
  for await (const ids of waiting(session)) {
    const page = new Map<string, number>();
    for (const id of ids.filter(isJobId)) {
      page.set(id, seen.has(id) ? 2 : 1);
      seen.add(id);
    }
    await verify(session, await suspects(session, page, findings), fix, findings, true);
    if (findings.full) break;
  }
  return seen;
}

/** Keys that stand without anybody naming them. */
async function keyspace(
  session: Session,
  inWait: SeenIds,
  able: boolean,
  fix: boolean,
  findings: Findings,
): Promise<void> {
  for await (const page of keys(session)) {
    if (findings.full) break;
    const jobs = new Map<string, number>();
    const records: string[] = [];
    const kinds: { readonly key: string; readonly kind: Kind }[] = [];
    for (const key of page) {
      const place = placeOf(key);
      if (place === null) findings.add("foreign-key", { key });
      if (place?.type !== "kind") continue;
      kinds.push({ key, kind: place.kind });
      if (place.kind === "dedup") records.push(place.id);
      else if (place.kind !== "sched") jobs.set(place.id, inWait.has(place.id) ? 1 : 0);
    }
    const types = await typesOf(
      session,
      kinds.map(({ key }) => key),
    );
    for (const [n, { key, kind }] of kinds.entries()) {
      const type = types[n];
      if (type !== "none" && type !== KINDS[kind]) findings.add("wrong-type", { key });
    }
    if (!able) continue;
    await verify(session, await suspects(session, jobs, findings), fix, findings);
    await dedups(session, records, fix, findings);
  }
}
