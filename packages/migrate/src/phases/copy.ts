import { CARRIERS, type Carrier, isMarker } from "../carry/carriers.js";
import { carryDedups } from "../carry/dedups.js";
import { idFaultOf, Sample } from "../carry/ids.js";
import { carryOptions } from "../carry/options.js";
import { type Member, PageReader, sizeOf } from "../carry/pages.js";
import { surveyKeys } from "../carry/survey.js";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { copyScript } from "../generated/bundle.js";
import { writeJournal } from "../journal.js";
import { pairs } from "../locate.js";
import { runOf } from "../run-id.js";
import { changePhase, fencedAt, guarded, ownStamp, refuse } from "../stamps.js";
import type { Counted } from "./plan.js";

/** What one state's copy came to in this call. */
export interface CopiedState {
  readonly state: string;
  /** Members of v1's list or set. */
  readonly members: number;
  /** Where an earlier call had stopped. */
  readonly resumedAt: number;
  readonly copied: number;
  readonly markers: number;
  readonly clamped: number;
}

/** Report of `copy`. What an earlier, interrupted call had copied is not counted again. */
export interface CopyReport {
  readonly phase: "copy";
  readonly queue: string;
  readonly run: string;
  readonly states: readonly CopiedState[];
  readonly copied: number;
  readonly dedups: number;
  readonly options: number;
  readonly minutes: number;
  /** Members without a hash: they stay in the vault. */
  readonly dangling: Counted<{ state: string; id: string; status: string }>;
  readonly next: string;
}

const PHASE = "copy";
const JOURNAL_EVERY_MS = 1_000;

type Dangling = Sample<{ state: string; id: string; status: string }>;

/**
 * Copies every job in bounded batches, hash first and membership second. A second call goes on where
 * the first stopped.
 * @throws MigrationError `NOT_FENCED`, `FLOWS`, `IDS`, `SCORES`, `MEMORY`, `OVERTAKEN`, `ABORTED`.
 */
export async function copy(ctx: Context): Promise<CopyReport> {
  return guarded(ctx, PHASE, async () => {
    const at = await fencedAt(ctx, PHASE);
    await changePhase(ctx, at.phase ?? "fence", "copy");
    await writeJournal(ctx, "copy");
    await refuseFlows(ctx);
    const own = ownStamp(ctx, "copy");
    const cursors = await readCursors(ctx);
    const dangling: Dangling = new Sample();
    const states: CopiedState[] = [];
    for (const carrier of CARRIERS) {
      const from = Number(cursors[`copied.${carrier.state}`] ?? 0);
      states.push(await copyState(ctx, carrier, own, from, dangling));
    }
    const dedups = await carryDedups(ctx, own);
    const { options, minutes } = await carryOptions(ctx, own);
    const report: CopyReport = {
      phase: PHASE,
      queue: ctx.queue,
      run: runOf(ctx),
      states: states.filter(({ members }) => members > 0),
      copied: states.reduce((total, { copied }) => total + copied, 0),
      dedups,
      options,
      minutes,
      dangling: { count: dangling.count, first: dangling.first },
      next: commandFor(ctx, "verify"),
    };
    await writeJournal(ctx, "copy", { copy: JSON.stringify(report) });
    return report;
  });
}

async function copyState(
  ctx: Context,
  carrier: Carrier,
  own: string,
  resumedAt: number,
  dangling: Dangling,
): Promise<CopiedState> {
  const { state } = carrier;
  const key = ctx.v1.vaulted(state);
  const members = await sizeOf(ctx, carrier, key);
  const pages = new PageReader(ctx, carrier, key, { size: members, count: ctx.batch });
  const count = { copied: 0, markers: 0, clamped: 0 };
  let journaled = performance.now();
  let from = resumedAt;
  while (from < members) {
    ctx.check();
    const page = await pages.page(from);
    if (page.length === 0) break;
    const real = page.filter(({ id }) => !isMarker(carrier, id));
    const items = real.map((member) => itemOf(ctx, carrier, member));
    const reply = await ctx.dispatcher.run(copyScript, {
      q: ctx.q,
      sources: real.flatMap(({ id }) => [ctx.v1.job(id), ctx.v1.logs(id)]),
      jobs: real.map(({ id }) => id),
      items,
      args: { own, source: ctx.v1.base, state, from, to: from + page.length },
    });
    reply.statuses.forEach((status, at) => {
      const { id } = real[at] as Member;
      if (status === "parent") throw flow(ctx, [ctx.v1.job(id)]);
      if (status === "ok") count.copied += 1;
      else dangling.add({ state, id, status });
    });
    if (reply.statuses.length > 0 || real.length === 0) {
      count.markers += page.length - real.length;
      count.clamped += items.filter(({ clamped }) => clamped).length;
    }
    from = reply.cursor;
    ctx.progress({ phase: PHASE, part: state, done: from, total: members });
    if (performance.now() - journaled > JOURNAL_EVERY_MS) {
      journaled = performance.now();
      await writeJournal(ctx, "copy", { [`copied:${state}`]: `${from}/${members}` });
    }
  }
  if (members > 0) await writeJournal(ctx, "copy", { [`copied:${state}`]: `${from}/${members}` });
  return { state, members, resumedAt, ...count };
}

function itemOf(
  ctx: Context,
  carrier: Carrier,
  { id, score, rank }: Member,
): { score: string; priority: number; clamped: boolean } {
  const why = idFaultOf(ctx, id);
  if (why !== null) {
    const say = `A job of this id cannot live on the v2 wire: ${why}.`;
    throw refuse(ctx, PHASE, "IDS", say, "rollback", { state: carrier.state, id });
  }
  const carried = carrier.carry(score, rank);
  if (carried === null) {
    const say = `Job ${id} stands in ${carrier.state} with score ${score}, which is no time.`;
    throw refuse(ctx, PHASE, "SCORES", say, "rollback", { state: carrier.state, id, score });
  }
  return {
    score: carried.score,
    priority: carried.priority,
    clamped: carried.changed !== undefined,
  };
}

async function readCursors(ctx: Context): Promise<Record<string, string>> {
  const key = ctx.v2.unit("meta");
  return pairs(await ctx.dispatcher.command(["HGETALL", key], { key }, { repeatable: true }));
}

/** v1 clients may have added a flow between the plan and the fence. */
async function refuseFlows(ctx: Context): Promise<void> {
  const { flows } = await surveyKeys(ctx);
  if (flows.count > 0) throw flow(ctx, flows.first);
}

function flow(ctx: Context, keys: readonly string[]): Error {
  const say = `Jobs of flows stand in this queue (${keys[0]}); flows are not carried yet.`;
  return refuse(ctx, PHASE, "FLOWS", say, "rollback", { keys });
}
