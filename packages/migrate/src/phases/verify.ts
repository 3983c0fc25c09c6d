import { CARRIERS } from "../carry/carriers.js";
import { type Finding, Findings } from "../carry/findings.js";
import { sizeOf } from "../carry/pages.js";
import { verifyRest } from "../carry/verify-rest.js";
import { type StateCheck, verifyState } from "../carry/verify-state.js";
import { commandFor } from "../command-line.js";
import type { Context } from "../context.js";
import { MigrationError } from "../errors.js";
import { writeJournal } from "../journal.js";
import { pairs } from "../locate.js";
import { runOf } from "../run-id.js";
import { changePhase, fencedAt, guarded, refuse } from "../stamps.js";
import { counted } from "../words.js";
import type { Counted } from "./plan.js";

/** Report of `verify`. */
export interface VerifyReport {
  readonly phase: "verify";
  readonly queue: string;
  readonly run: string;
  readonly ok: boolean;
  readonly states: readonly StateCheck[];
  readonly jobs: number;
  readonly differences: number;
  readonly first: readonly Finding[];
  /** Members without a hash on v1: reported, not carried. */
  readonly dangling: Counted<{ state: string; id: string }>;
  /** Job hashes of v1 that stand in no state: reported, not carried. */
  readonly orphans: Counted<string>;
  /** Jobs that stand in two states, carried as they are. */
  readonly twice: number;
  /** Queue-level v1 keys that were written after the fence. */
  readonly intruders: readonly string[];
  readonly next: string;
}

const PHASE = "verify";

/**
 * Compares every job field by field and every list and set member by member.
 * @throws MigrationError `NOT_FENCED`, `NOT_COPIED`, `DIFFERENT` with the report as details,
 * `OVERTAKEN`, `ABORTED`.
 */
export async function verify(ctx: Context): Promise<VerifyReport> {
  return guarded(ctx, PHASE, async () => {
    const at = await fencedAt(ctx, PHASE);
    await refuseUnfinished(ctx);
    await changePhase(ctx, at.phase ?? "copy", "verify");
    await writeJournal(ctx, "verify");
    const findings = new Findings();
    const states: StateCheck[] = [];
    let waiting = 0;
    for (const carrier of CARRIERS) {
      const check = await verifyState(
        ctx,
        carrier,
        findings,
        carrier.unit === "wait" ? waiting : 0,
      );
      if (carrier.unit === "wait") waiting += check.jobs;
      if (check.members > 0) states.push(check);
    }
    await sizes(ctx, states, findings);
    const rest = await verifyRest(ctx, findings, states);
    const report: VerifyReport = {
      phase: PHASE,
      queue: ctx.queue,
      run: runOf(ctx),
      ok: findings.count === 0,
      states,
      jobs: states.reduce((total, { jobs }) => total + jobs, 0),
      differences: findings.count,
      first: findings.first,
      dangling: { count: findings.dangling.count, first: findings.dangling.first },
      orphans: { count: rest.orphans.count, first: rest.orphans.first },
      twice: rest.twice,
      intruders: at.live,
      next: commandFor(ctx, findings.count === 0 ? "commit" : "rollback"),
    };
    if (!report.ok) {
      await writeJournal(ctx, "verify", { verify: JSON.stringify(report) });
      throw different(ctx, report);
    }
    await changePhase(ctx, "verify", "verified");
    await writeJournal(ctx, "verified", { verify: JSON.stringify(report) });
    return report;
  });
}

async function refuseUnfinished(ctx: Context): Promise<void> {
  const key = ctx.v2.unit("meta");
  const found = await ctx.dispatcher.command(["HGETALL", key], { key }, { repeatable: true });
  const fields = pairs(found);
  if (fields["copied.all"] === "1") return;
  const copied: Record<string, string> = {};
  for (const carrier of CARRIERS) {
    const members = await sizeOf(ctx, carrier, ctx.v1.vaulted(carrier.state));
    if (members === 0) continue;
    copied[carrier.state] = `${fields[`copied.${carrier.state}`] ?? 0} of ${members}`;
  }
  const said = Object.entries(copied).map(([state, text]) => `${state} ${text}`);
  const say = `The copy is not finished: ${said.join(", ")}.`;
  throw refuse(ctx, PHASE, "NOT_COPIED", say, "copy", { copied });
}

/** Nothing may stand on the v2 side that v1 does not have. */
async function sizes(
  ctx: Context,
  states: readonly StateCheck[],
  findings: Findings,
): Promise<void> {
  for (const unit of new Set(CARRIERS.map((carrier) => carrier.unit))) {
    const own = CARRIERS.filter((carrier) => carrier.unit === unit).map(
      ({ state }) => state as string,
    );
    const wanted = states
      .filter(({ state }) => own.includes(state))
      .reduce((total, { jobs }) => total + jobs, 0);
    const type = unit === "wait" ? "list" : "zset";
    const found = await sizeOf(ctx, { type }, ctx.v2.unit(unit));
    if (found !== wanted)
      findings.differ(unit, "", `v2 holds ${counted(found, "member")}, v1 ${wanted}`);
  }
}

function different(ctx: Context, report: VerifyReport): MigrationError {
  const [first] = report.first;
  const say = first === undefined ? "" : `: ${first.where} ${first.id} ${first.what}`;
  return new MigrationError({
    reason: "DIFFERENT",
    queue: ctx.queue,
    phase: PHASE,
    message: `v1 and v2 differ in ${counted(report.differences, "place")}${say}.`,
    details: { report },
    next: commandFor(ctx, "rollback"),
  });
}
