import { type Engine, sharedServer, uniqueQueue } from "@echomq/testkit";
import { kindKey, stampKey, type Unit, unitKey } from "@echomq/wire";
import { Redis } from "ioredis";
import {
  addScript,
  beginScript,
  type CallOf,
  Dispatcher,
  finishScript,
  initScript,
  promoteScript,
  type RedisDriver,
  type ReplyOf,
  recoverScript,
  stepScript,
} from "../../src/index.js";
import { ioredisDriver } from "../../src/ioredis/index.js";

/** A moment all calls of a test agree on, in server ms: scripts know no other time. */
export const T = 1_700_000_000_000;
/** Keep everything. */
export const ALL: number = Number.MAX_SAFE_INTEGER;

export interface Item {
  readonly id: string;
  readonly name?: string;
  readonly data?: string;
  readonly opts?: string;
  readonly timestamp?: number;
  readonly delay?: number;
  readonly priority?: number;
  readonly lifo?: boolean;
  /** The caller gave the id. */
  readonly own?: boolean;
  readonly dedup?: {
    readonly id: string;
    readonly ttl?: number;
    readonly extend?: boolean;
    readonly replace?: boolean;
    readonly last?: boolean;
    /** Who the record is believed to name. Default: whom it names when the call is made. */
    readonly holder?: string;
  };
}

type StepArgs = CallOf<typeof stepScript.spec>["args"];
type FinishRow = CallOf<typeof finishScript.spec>["items"][number];

export interface StepInput extends Partial<StepArgs> {
  readonly done?: readonly {
    readonly id: string;
    readonly token?: string;
    readonly value?: string;
    readonly atm?: number;
  }[];
  readonly candidates?: readonly string[];
}

/** A driver of ioredis' own, the plainest of the adapters. */
export function openDriver(url: string): Promise<RedisDriver> {
  return ioredisDriver(new Redis(url, { lazyConnect: true }));
}

/** A queue on a real server, with short ways to call the scripts. */
export class Bench {
  readonly q: string;
  readonly redis: Redis;
  readonly driver: RedisDriver;
  readonly run: Dispatcher;

  constructor(q: string, redis: Redis, driver: RedisDriver) {
    this.q = q;
    this.redis = redis;
    this.driver = driver;
    this.run = Dispatcher.over(driver);
  }

  unit(unit: Unit): string {
    return unitKey(this.q, unit);
  }

  job(id: string): string {
    return kindKey(this.q, "job", id);
  }

  record(dedup: string): string {
    return kindKey(this.q, "dedup", dedup);
  }

  get stamp(): string {
    return stampKey(this.q);
  }

  /** An empty opened queue of another name over the same connections. */
  async fresh(): Promise<Bench> {
    const next = new Bench(uniqueQueue(), this.redis, this.driver);
    await next.run.run(initScript, { q: next.q, args: { now: T } });
    return next;
  }

  async add(
    items: readonly (Item | string)[],
    now: number = T,
    whole = 0,
  ): Promise<readonly string[]> {
    const rows = items.map((item): Item => (typeof item === "string" ? { id: item } : item));
    const locked = rows.flatMap(({ dedup }, at) => (dedup ? [{ dedup, item: at + 1 }] : []));
    const holders: string[] = [];
    const locks = [];
    for (const { dedup, item } of locked) {
      const { ttl = 0, extend, replace, last } = dedup;
      const holder = dedup.holder ?? (await this.redis.hget(this.record(dedup.id), "job"));
      if (holder) holders.push(holder);
      const flags = (extend ? 1 : 0) + (replace ? 2 : 0) + (last ? 4 : 0);
      locks.push({ item, ttl, flags, holder: holder ? holders.length : 0 });
    }
    return this.run.run(addScript, {
      q: this.q,
      args: { now, whole },
      jobs: rows.map(({ id }) => id),
      namesakes: rows.filter(({ own }) => own).map(({ id }) => id),
      dedups: locked.map(({ dedup }) => dedup.id),
      holders,
      locks,
      items: rows.map((row) => ({
        name: row.name ?? "job",
        data: row.data ?? "{}",
        opts: row.opts ?? "",
        timestamp: row.timestamp ?? now,
        delay: row.delay ?? 0,
        priority: row.priority ?? 0,
        flags: (row.lifo ? 1 : 0) + (row.own ? 2 : 0),
      })),
    });
  }

  async step(input: StepInput = {}): Promise<ReplyOf<typeof stepScript.spec>> {
    const { done = [], candidates = [], ...args } = input;
    return this.run.run(stepScript, {
      q: this.q,
      args: {
        now: T,
        claim: 0,
        deadline: T + 30_000,
        token: "t",
        hints: 0,
        begun: 500,
        keepCount: ALL,
        keepAge: 0,
        rateMax: 0,
        rateMs: 0,
        ...args,
      },
      candidates,
      done: done.map(({ id }) => id),
      results: done.map((row) => ({
        token: row.token ?? "t",
        atm: row.atm ?? 1,
        ats: 1,
        value: row.value ?? "null",
      })),
    });
  }

  /** Claims and names the ids. */
  async claim(claim: number, input: StepInput = {}): Promise<string[]> {
    const reply = await this.step({ ...input, claim });
    return reply.claimed.map(({ id }) => id);
  }

  /** Begins claimed jobs and answers for each in one shape. */
  async begin(
    jobs: readonly string[],
    token = "t",
  ): Promise<{ status: string; verdict: string | null; fields: readonly (string | null)[] }[]> {
    const reply = await this.run.run(beginScript, { q: this.q, jobs, args: { token } });
    return reply.jobs.map(({ id, fields }, at) => {
      if (id !== jobs[at]) throw new Error(`asked for ${jobs[at]}, got ${id}`);
      const status = reply.statuses?.[at] ?? "ok";
      return { status, verdict: reply.verdicts?.[at] ?? null, fields };
    });
  }

  async finish(
    rows: readonly (Partial<Omit<FinishRow, "lock">> & {
      readonly id: string;
      readonly dedup?: string;
    })[],
    args: Partial<CallOf<typeof finishScript.spec>["args"]> = {},
  ): Promise<ReplyOf<typeof finishScript.spec>> {
    const dedups = rows.flatMap(({ dedup }) => dedup ?? []);
    return this.run.run(finishScript, {
      q: this.q,
      jobs: rows.map(({ id }) => id),
      dedups,
      args: { now: T, keepCount: ALL, keepAge: 0, failCount: ALL, failAge: 0, ...args },
      items: rows.map(({ id: _, dedup, ...row }) => ({
        token: "t",
        how: "completed",
        atm: 1,
        ats: 1,
        delay: 0,
        value: "",
        stack: "",
        letter: "",
        ...row,
        lock: dedup === undefined ? 0 : dedups.indexOf(dedup) + 1,
      })),
    });
  }

  async promote(now: number, limit = 500): Promise<ReplyOf<typeof promoteScript.spec>> {
    return this.run.run(promoteScript, { q: this.q, args: { now, limit } });
  }

  /** Recovers by what stands in `active` and `owners` now. */
  async recover(
    ids: readonly string[],
    now: number,
    budget = 1,
  ): Promise<ReplyOf<typeof recoverScript.spec>> {
    const leases = await Promise.all(
      ids.map(async (id) => ({
        score: (await this.redis.zscore(this.unit("active"), id)) ?? "",
        owner: (await this.redis.hget(this.unit("owners"), id)) ?? "",
      })),
    );
    return this.run.run(recoverScript, { q: this.q, jobs: ids, args: { now, budget }, leases });
  }

  /** Members of a sorted unit in order. */
  async set(unit: Unit): Promise<string[]> {
    return this.redis.zrange(this.unit(unit), 0, -1);
  }

  /** Ids in `wait`, next to be claimed first. */
  async waiting(): Promise<string[]> {
    return (await this.redis.lrange(this.unit("wait"), 0, -1)).reverse();
  }

  /** Events as `<code><id>=<payload>`, oldest first. */
  async events(): Promise<string[]> {
    const entries = await this.redis.xrange(this.unit("events"), "-", "+");
    return entries.flatMap(([, pairs]) =>
      pairs.flatMap((text, at) => (at % 2 === 0 ? [`${text}=${pairs[at + 1]}`] : [])),
    );
  }
}

/** Opens a bench on the engine's shared server, or on the server at `url`. */
export async function openBench(engine: Engine, url?: string): Promise<Bench> {
  const address = url ?? (await sharedServer(engine)).url;
  const driver = await openDriver(address);
  const bench = new Bench(uniqueQueue(), new Redis(address), driver);
  await bench.run.run(initScript, { q: bench.q, args: { now: T } });
  return bench;
}

export const ENGINES: readonly Engine[] = ["redis", "valkey"];

/** Ends a bench's connections. */
export async function closeBench(bench: Bench | undefined): Promise<void> {
  if (!bench) return;
  bench.redis.disconnect();
  await bench.driver.close("now");
}
