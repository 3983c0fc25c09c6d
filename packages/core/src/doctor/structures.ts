import { setTimeout as sleep } from "node:timers/promises";
import {
  dedupsScript,
  expiredScript,
  mendScript,
  promoteScript,
  unlockScript,
} from "@echomq/scripts";
import { kindKey, stampKey, UNITS, type Unit, unitKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import { bury } from "../job/bury.js";
import type { Findings } from "./report.js";
import { typesOf } from "./scan.js";

const OP = "Queue.doctor";
const BATCH = 100;
/** Pause before a doubt about a structure is looked at again, in ms. */
const AGAIN_MS = 200;
/** Where the priority sequence starts when it is absent. */
const FIRST_PLACE = 2 ** 31;
/** Age from which a removed job should have been buried, in ms. */
const TRASH_MS = 60_000;

/** Units of another type than theirs. */
export async function unitTypes(session: Session, findings: Findings): Promise<ReadonlySet<Unit>> {
  const units = Object.keys(UNITS) as Unit[];
  const types = await typesOf(
    session,
    units.map((unit) => unitKey(session.q, unit)),
  );
  const wrong = units.filter((unit, at) => types[at] !== "none" && types[at] !== UNITS[unit].type);
  for (const unit of wrong) findings.add("wrong-type", { key: unitKey(session.q, unit) });
  return new Set(wrong);
}

/** The priority sequence, and the limiter's window, which must end. */
export async function counters(session: Session, fix: boolean, findings: Findings): Promise<void> {
  const pc = unitKey(session.q, "pc");
  const limiter = unitKey(session.q, "limiter");
  const look = async (): Promise<string[]> => {
    const commands = [
      ["GET", pc],
      ["PTTL", limiter],
    ];
    const route = { key: stampKey(session.q) };
    const [sequence, window] = await session.main.readMany(commands, route, { op: OP });
    const bad = typeof sequence === "string" && !/^\d{1,15}$/.test(sequence) ? [pc] : [];
    return window === -1 ? [...bad, limiter] : bad;
  };
  const bad = await look();
  if (bad.length === 0) return;
  if (fix) {
    const now = await session.clock.exact();
    await session.write(mendScript, { q: session.q, args: { now, least: 0 }, jobs: [] }, OP);
  }
  const left = new Set(fix ? await look() : bad);
  for (const key of bad) findings.add("broken-counter", { key }, !left.has(key));
}

/**
 * The priority sequence behind a place it has given: new jobs would come before older ones. `last` is the
 * highest place seen, and the sequence, read after it, only grows.
 */
export async function sequence(
  session: Session,
  last: number,
  fix: boolean,
  findings: Findings,
): Promise<void> {
  const key = unitKey(session.q, "pc");
  const behind = async (): Promise<boolean> => {
    const text = await session.main.command(["GET", key], { key }, { op: OP, repeatable: true });
    // One that is no number was told before.
    return last > (typeof text === "string" ? Number(text) : FIRST_PLACE);
  };
  if (!(await behind())) return;
  if (fix) {
    const args = { now: await session.clock.exact(), least: last };
    await session.write(mendScript, { q: session.q, args, jobs: [] }, OP);
  }
  findings.add("broken-counter", { key }, fix && !(await behind()));
}

/** Removed jobs that no sweep has buried for a minute. */
export async function trash(session: Session, fix: boolean, findings: Findings): Promise<void> {
  const { q } = session;
  const key = unitKey(q, "trash");
  const old = String((await session.clock.exact()) - TRASH_MS);
  for (let from = 0; !findings.full; ) {
    const range = ["ZRANGEBYSCORE", key, "-inf", old, "LIMIT", String(from), String(BATCH)];
    const options = { op: OP, repeatable: true };
    const ids = (await session.main.command(range, { key }, options)) as readonly string[];
    const jobs = ids.filter(isJobId);
    if (fix && jobs.length > 0) await bury(session, jobs, OP);
    for (const id of jobs) findings.add("trash", { id }, fix);
    if (ids.length < BATCH) return;
    // What was buried has made room for the next page.
    from += fix ? ids.length - jobs.length : ids.length;
  }
}

/** Deduplication records by their ids. */
export async function dedups(
  session: Session,
  ids: readonly string[],
  fix: boolean,
  findings: Findings,
): Promise<void> {
  const { q, main } = session;
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    const reads = batch.map((id) => ["HGET", kindKey(q, "dedup", id), "job"]);
    const settled = await main.readEach(reads, { op: OP }, { key: stampKey(q) });
    const rows = batch.flatMap((id, n) => {
      const one = settled[n];
      const job = one?.ok && typeof one.value === "string" ? one.value : "";
      return isJobId(job) ? [{ id, job }] : [];
    });
    if (rows.length === 0) continue;
    const records = rows.map(({ id }) => id);
    const jobs = rows.map(({ job }) => job);
    const call = { q, records, jobs, args: { fix: fix ? 1 : 0 } };
    const told = (await session.read(dedupsScript, call, OP)) ?? [];
    for (const [n, { id, job }] of rows.entries()) {
      const key = kindKey(q, "dedup", id);
      if (told[n] === "stray") findings.add("stray-dedup", { id, key }, fix);
      // Its job can free nothing any more, so what it keeps back takes its place now.
      if (told[n] === "owing")
        findings.add("owing-dedup", { id, key }, fix && (await free(session, id, job)));
    }
  }
}

async function free(session: Session, id: string, job: string): Promise<boolean> {
  const call = { q: session.q, dedups: [id], args: { now: await session.clock.exact(), job } };
  return (await session.write(unlockScript, call, OP)) === 1;
}

/** Jobs wait while no marker would wake a worker, and that stays so. */
export async function marker(session: Session, fix: boolean, findings: Findings): Promise<void> {
  const { q } = session;
  const unmarked = async (): Promise<boolean> => {
    const call = { q, args: { now: 0, limit: 0 } };
    const empty = (await session.read(expiredScript, call, OP))?.unmarked === 1;
    return empty && !(await atLimit(session));
  };
  // A worker that has just been woken holds the marker's member for a moment.
  for (let look = 0; look < 3; look += 1) {
    if (!(await unmarked())) return;
    await sleep(AGAIN_MS);
  }
  if (fix) {
    const args = { now: await session.clock.exact(), limit: 0 };
    await session.write(promoteScript, { q, args }, OP);
  }
  findings.add("marker-empty", { key: unitKey(q, "marker") }, fix);
}

/** Under a limit that is reached, of jobs at once or of a window, the marker is rightly empty. */
async function atLimit({ q, main }: Session): Promise<boolean> {
  const commands = [
    ["HGET", unitKey(q, "meta"), "concurrency"],
    ["ZCARD", unitKey(q, "active")],
    ["PTTL", unitKey(q, "limiter")],
  ];
  const read = await main.readMany(commands, { key: stampKey(q) }, { op: OP });
  const [limit, active, window] = read;
  return (typeof limit === "string" && Number(active) >= Number(limit)) || Number(window) > 0;
}
