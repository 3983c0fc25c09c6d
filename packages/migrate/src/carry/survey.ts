import type { Command, Reply } from "@echomq/scripts";
import { isEchoMQError } from "@echomq/wire";
import type { Context } from "../context.js";
import { scanV1 } from "../v1/scan.js";
import { CARRIERS, type Carrier, isMarker } from "./carriers.js";
import { idFaultOf, Sample } from "./ids.js";
import { type Member, pageOf, sizeOf } from "./pages.js";

/** What stands in one state of the v1 queue. */
export interface StateSurvey {
  readonly state: string;
  /** Members, markers and dangling ids included. */
  readonly members: number;
  /** Members whose job would be carried. */
  readonly jobs: number;
  readonly markers: number;
  /** Jobs whose priority has to be clamped. */
  readonly clamped: number;
}

/** What a walk over the whole v1 queue found. */
export interface Survey {
  readonly states: readonly StateSurvey[];
  /** Members without a hash. */
  readonly dangling: Sample<{ state: string; id: string }>;
  readonly badIds: Sample<{ state: string; id: string; why: string }>;
  readonly badScores: Sample<{ state: string; id: string; score: string }>;
  /** Jobs that belong to a parent. */
  readonly children: Sample<{ state: string; id: string; parentKey: string }>;
  /** Jobs that stand in more than one state. */
  readonly twice: Sample<{ id: string; states: readonly string[] }>;
  /** Some job hashes, for an estimate of their size. */
  readonly keys: readonly string[];
}

const ZSETS = CARRIERS.filter(({ type }) => type === "zset");

/** Walks every state in pages. `where` gives the key of a unit: in place, or in the vault. */
export async function survey(ctx: Context, where: (unit: string) => string): Promise<Survey> {
  const found = {
    dangling: new Sample<{ state: string; id: string }>(),
    badIds: new Sample<{ state: string; id: string; why: string }>(),
    badScores: new Sample<{ state: string; id: string; score: string }>(),
    children: new Sample<{ state: string; id: string; parentKey: string }>(),
    twice: new Sample<{ id: string; states: readonly string[] }>(),
  };
  const sample = new KeySample();
  const states: StateSurvey[] = [];
  for (const carrier of CARRIERS) {
    const key = where(carrier.state);
    const members = await sizeOf(ctx, carrier, key);
    let jobs = 0;
    let markers = 0;
    let clamped = 0;
    for (let from = 0; from < members; from += ctx.batch) {
      ctx.check();
      const page = await pageOf(ctx, carrier, key, from, ctx.batch);
      const real = page.filter(({ id }) => !isMarker(carrier, id));
      markers += page.length - real.length;
      const seen = await look(ctx, carrier, real, where);
      real.forEach((member, at) => {
        const { id, score } = member;
        const { state } = carrier;
        const job = seen[at];
        const why = idFaultOf(ctx, id);
        if (why !== null) found.badIds.add({ state, id, why });
        const carried = carrier.carry(score, member.rank);
        if (carried === null) found.badScores.add({ state, id, score });
        if (carried?.changed !== undefined) clamped += 1;
        if (job === undefined || !job.exists) {
          found.dangling.add({ state, id });
          return;
        }
        jobs += 1;
        if (job.parentKey !== null) found.children.add({ state, id, parentKey: job.parentKey });
        if (job.deid !== null) {
          const fault = idFaultOf(ctx, job.deid, "deduplicationId");
          if (fault !== null) found.badIds.add({ state, id, why: fault });
        }
        if (job.also.length > 0) found.twice.add({ id, states: [state, ...job.also] });
        sample.offer(ctx.v1.job(id));
      });
      ctx.progress({
        phase: "plan",
        part: carrier.state,
        done: from + page.length,
        total: members,
      });
      if (page.length === 0) break;
    }
    if (members > 0) states.push({ state: carrier.state, members, jobs, markers, clamped });
  }
  return { ...found, states, keys: sample.keys };
}

/** Keeps keys from all over a walk: the first ones, then every so often one in the place of another. */
class KeySample {
  readonly keys: string[] = [];
  #offered = 0;

  offer(key: string): void {
    this.#offered += 1;
    if (this.keys.length < SAMPLE) this.keys.push(key);
    else if (this.#offered % SAMPLE_STEP === 0) this.keys[this.#offered % SAMPLE] = key;
  }
}

const SAMPLE = 200;
/** Prime, so that it reaches every place of the sample. */
const SAMPLE_STEP = 97;

interface Seen {
  readonly exists: boolean;
  readonly parentKey: string | null;
  readonly deid: string | null;
  /** Other sets that hold the id. */
  readonly also: readonly string[];
}

async function look(
  ctx: Context,
  carrier: Carrier,
  members: readonly Member[],
  where: (unit: string) => string,
): Promise<readonly Seen[]> {
  if (members.length === 0) return [];
  const ids = members.map(({ id }) => id);
  // A pair is reported once: by the state that comes first.
  const later = ZSETS.filter((other) => CARRIERS.indexOf(other) > CARRIERS.indexOf(carrier));
  const fields = await hashes(
    ctx,
    ids.map((id) => ["HMGET", ctx.v1.job(id), "name", "parentKey", "deid"]),
  );
  const scores = await ctx.dispatcher.readMany(
    later.map(({ state }) => ["ZMSCORE", where(state), ...ids]),
    { key: ctx.v1.base },
  );
  return ids.map((_, at) => {
    const [name, parentKey, deid] = fields[at] ?? [];
    return {
      exists: typeof name === "string",
      parentKey: typeof parentKey === "string" ? parentKey : null,
      deid: typeof deid === "string" ? deid : null,
      also: later
        .filter((_, n) => (scores[n] as readonly Reply[])[at] !== null)
        .map(({ state }) => state),
    };
  });
}

/** Fields per hash; none where a key of another type stands. */
async function hashes(
  ctx: Context,
  commands: readonly Command[],
): Promise<readonly (readonly Reply[])[]> {
  try {
    return (await ctx.dispatcher.readMany(commands, { key: ctx.v1.base })) as (readonly Reply[])[];
  } catch (error) {
    if (!isEchoMQError(error, "WRONGTYPE")) throw error;
    if (commands.length === 1) return [[]];
    const half = Math.ceil(commands.length / 2);
    return [
      ...(await hashes(ctx, commands.slice(0, half))),
      ...(await hashes(ctx, commands.slice(half))),
    ];
  }
}

/** What the names of all v1 keys tell. */
export interface KeySurvey {
  readonly flows: Sample<string>;
  readonly schedules: Sample<string>;
  readonly dedups: number;
  readonly logs: number;
  readonly hashes: number;
}

/** Walks the names of all keys of the v1 queue. A key that SCAN gives twice counts twice. */
export async function surveyKeys(ctx: Context): Promise<KeySurvey> {
  const flows = new Sample<string>();
  const schedules = new Sample<string>();
  const count = { dedups: 0, logs: 0, hashes: 0 };
  for await (const page of scanV1(ctx)) {
    for (const { kind, key } of page) {
      if (kind === "flow") flows.add(key);
      if (kind === "schedule") schedules.add(key);
      if (kind === "dedup") count.dedups += 1;
      if (kind === "logs") count.logs += 1;
      if (kind === "job") count.hashes += 1;
    }
  }
  return { flows, schedules, ...count };
}
