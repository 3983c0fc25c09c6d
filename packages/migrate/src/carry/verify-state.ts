import type { Context } from "../context.js";
import { compareScript } from "../generated/bundle.js";
import { ownStamp } from "../stamps.js";
import { type Carrier, isMarker } from "./carriers.js";
import type { Findings } from "./findings.js";
import { type Member, PageReader, pageOf, sizeOf } from "./pages.js";

/** What the check of one state came to. */
export interface StateCheck {
  readonly state: string;
  /** Members of v1's list or set. */
  readonly members: number;
  /** Members with a job, which must stand on v2 too. */
  readonly jobs: number;
}

const LOG_PAGE = 500;
/** Lines of a log that the script has compared. */
const LOG_SEEN = 200;

/** Compares one state; `offset` is where its members begin in the v2 list or set. */
export async function verifyState(
  ctx: Context,
  carrier: Carrier,
  findings: Findings,
  offset: number,
): Promise<StateCheck> {
  const { state } = carrier;
  const key = ctx.v1.vaulted(state);
  const members = await sizeOf(ctx, carrier, key);
  const pages = new PageReader(ctx, carrier, key, { size: members, count: ctx.batch });
  let at = offset;
  for (let from = 0; from < members; from += ctx.batch) {
    ctx.check();
    const page = await pages.page(from);
    const real = page.filter(({ id }) => !isMarker(carrier, id));
    const jobs = await verifyJobs(ctx, carrier, real, findings);
    const there = await pageOf(ctx, carrier, ctx.v2.unit(carrier.unit), at, jobs.length);
    for (const [n, member] of jobs.entries()) verifyMember(carrier, member, there[n], findings);
    await verifyPriorities(ctx, carrier, jobs, findings);
    at += jobs.length;
    ctx.progress({ phase: "verify", part: state, done: from + page.length, total: members });
  }
  return { state, members, jobs: at - offset };
}

/** Compares hashes and logs; returns the members that must stand on v2. */
async function verifyJobs(
  ctx: Context,
  { state }: Carrier,
  members: readonly Member[],
  findings: Findings,
): Promise<readonly Member[]> {
  if (members.length === 0) return [];
  const statuses = await ctx.dispatcher.run(compareScript, {
    q: ctx.q,
    sources: members.flatMap(({ id }) => [ctx.v1.job(id), ctx.v1.logs(id)]),
    jobs: members.map(({ id }) => id),
    args: { own: ownStamp(ctx, "verify"), source: ctx.v1.base },
  });
  for (const [at, { id }] of members.entries()) {
    const status = statuses[at] as string;
    if (status === "none") findings.dangling.add({ state, id });
    else if (status === "long") await verifyLog(ctx, id, findings);
    else if (status !== "same") findings.differ(state, id, SAID[status] ?? `${status} differs`);
  }
  return members.filter((_, at) => statuses[at] !== "none");
}

const SAID: Readonly<Record<string, string>> = {
  lost: "has no hash on v2",
  gone: "lost its hash on v1 after it was copied",
  logs: "has another log on v2",
  extras: "owns a log and is not in extras",
};

function verifyMember(
  carrier: Carrier,
  member: Member,
  there: Member | undefined,
  findings: Findings,
): void {
  const { id, score, rank } = member;
  if (there?.id !== id) {
    findings.differ(carrier.state, id, `v2 has ${there?.id ?? "nothing"} in its place`);
    return;
  }
  if (carrier.type === "list") return;
  const wanted = carrier.carry(score, rank)?.score;
  if (Number(there.score) !== Number(wanted)) {
    findings.differ(carrier.state, id, `v2 has score ${there.score} instead of ${wanted}`);
  }
}

/** Priorities decide where a recovered or promoted job goes, so they are compared too. */
async function verifyPriorities(
  ctx: Context,
  carrier: Carrier,
  members: readonly Member[],
  findings: Findings,
): Promise<void> {
  if (members.length === 0 || (carrier.state !== "prioritized" && carrier.state !== "delayed"))
    return;
  const key = ctx.v2.unit("priorities");
  const ids = members.map(({ id }) => id);
  const found = (await ctx.dispatcher.command(
    ["HMGET", key, ...ids],
    { key },
    { repeatable: true },
  )) as readonly (string | null)[];
  const wanted =
    carrier.state === "prioritized"
      ? members.map(({ score, rank }) => carrier.carry(score, rank)?.priority ?? 0)
      : await storedPriorities(ctx, ids);
  ids.forEach((id, at) => {
    if (Number(found[at] ?? 0) !== wanted[at]) {
      findings.differ("priorities", id, `v2 has ${found[at] ?? "none"} instead of ${wanted[at]}`);
    }
  });
}

async function storedPriorities(ctx: Context, ids: readonly string[]): Promise<readonly number[]> {
  const replies = await ctx.dispatcher.readMany(
    ids.map((id) => ["HGET", ctx.v2.kind("job", id), "priority"]),
    { key: ctx.v2.stamp },
  );
  return replies.map((text) => {
    const priority = Math.floor(Math.min(Number(text ?? 0), 2_097_151));
    return priority >= 1 ? priority : 0;
  });
}

async function verifyLog(ctx: Context, id: string, findings: Findings): Promise<void> {
  const keys = [ctx.v1.logs(id), ctx.v2.kind("logs", id)];
  for (let from = LOG_SEEN; ; from += LOG_PAGE) {
    ctx.check();
    const [old, now] = await ctx.dispatcher.readMany(
      keys.map((key) => ["LRANGE", key, String(from), String(from + LOG_PAGE - 1)]),
      { key: ctx.v2.stamp },
    );
    if (JSON.stringify(old) !== JSON.stringify(now)) findings.differ("logs", id, SAID.logs ?? "");
    if ((old as readonly unknown[]).length < LOG_PAGE) return;
  }
}
