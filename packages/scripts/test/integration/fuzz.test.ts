import { startServer, type TestServer } from "@echomq/testkit";
import { KINDS, type Kind, parseKey, UNITS, type Unit } from "@echomq/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ScriptName, SPECS } from "../../src/index.js";
import { DIGITS, layoutOf } from "../../src/registry/layout.js";
import { type Bench, closeBench, ENGINES, openBench } from "../support/bench.js";
import { MANY, NAMES, populate, populateClosing } from "../support/population.js";
import {
  digest,
  dumpAll,
  encodedCall,
  type Outcome,
  place,
  raw,
  restoreAll,
  restoreKey,
  TYPES,
} from "../support/raw.js";

const NUMBERS = ["NaN", "nan", "Infinity", "inf", "-1", "1.5", "9007199254740992", "1e3", "0x10"];
/** For a number that shares its argument with others, by its digits. */
const SMALL_VALUES = [
  "999",
  "501",
  "-01",
  "+01",
  "1.5",
  "1e3",
  "0x1",
  " 01",
  "01\n",
  "%d+",
  "1",
  "0001",
  "",
];
const VALUES = [...NUMBERS, "9007199254740991", "1000000", "", " 1", "1\n", "x".repeat(100_000)];

/**
 * Keys a script declares and does not read on this call, or whose type it never depends on. Every
 * other key of a wrong type must refuse the call.
 */
const INDIFFERENT: Partial<Record<ScriptName, readonly string[]>> = {
  // What stands there already is left to `add`, and nothing is written.
  push: ["job"],
  step: ["job"],
  // `wait` is met after the settlements are written and only ends the claim; without `events` the entry
  // is dropped. The worker's next `step` refuses both.
  turn: ["wait", "job", "events"],
  // Only looked at when `wait` has none.
  pause: ["prioritized"],
  limit: ["prioritized"],
  finish: ["dedup", "job"],
  begin: ["meta", "job"],
  renew: ["meta"],
  recover: ["job"],
  bury: ["dedup", "job", "logs", "deps", "results", "failures"],
  // Only looked at when the marker is empty.
  expired: ["wait", "prioritized"],
  get: ["meta"],
  page: [
    "meta",
    "prioritized",
    "delayed",
    "active",
    "completed",
    "failed",
    "waiting-children",
    "held",
  ],
  ranks: ["meta"],
  loglines: ["meta"],
  count: ["meta"],
  metrics: ["meta", "metrics:failed"],
  heartbeat: ["meta"],
  workers: ["meta"],
  tail: ["meta"],
  inspect: ["meta", "job", "logs", "deps", "results", "failures"],
  // What is broken there is mended, or told and left.
  mend: ["job", "logs", "deps", "results", "failures", "pc", "limiter"],
  dedups: ["meta", "dedup", "job"],
  rescue: ["dedup", "job"],
  // Removed whatever stands there.
  wipe: [
    "events",
    "limiter",
    "marker",
    "metrics:completed",
    "metrics:failed",
    "owners",
    "parents",
    "pc",
    "priorities",
    "verdicts",
    "workers",
    "workers-info",
  ],
  unschedule: ["sched"],
  owed: ["meta"],
  ack: ["meta"],
  ended: ["failed", "meta"],
  added: ["job", "meta"],
  retry: ["job"],
  advance: ["job"],
  redelay: ["job"],
  rerank: ["job"],
  verdicts: ["meta"],
  data: ["job", "meta"],
  progress: ["job"],
  log: ["job"],
  add: ["logs", "deps", "results", "failures"],
  holder: ["meta"],
};

interface Position {
  readonly label: string;
  readonly type: "int" | "text";
  readonly most?: number;
  readonly values: readonly string[];
  /** The arguments with a value in this place. */
  put(value: string): readonly string[];
}

/** Arguments to try, of each table those of the first and the last row. */
function positions(name: ScriptName, argv: readonly string[]): Position[] {
  const { small, single, rows } = layoutOf(SPECS[name]);
  const found: Position[] = [];
  const head = argv[0] ?? "";
  for (const [n, arg] of small.entries()) {
    const put = (value: string): string[] =>
      argv.with(0, head.slice(0, n * DIGITS) + value + head.slice((n + 1) * DIGITS));
    found.push({ ...arg, label: arg.name, values: SMALL_VALUES, put });
  }
  let at = small.length > 0 ? 1 : 0;
  for (const arg of single) {
    const here = at++;
    const put = (value: string): string[] => argv.with(here, value);
    found.push({ ...arg, label: arg.name, values: VALUES, put });
  }
  for (const [n, { numbers, cells, width }] of rows.entries()) {
    const count = small.length - SPECS[name].args.filter((arg) => small.includes(arg)).length;
    const own = count - rows.length + n;
    const many = Number(head.slice(own * DIGITS, (own + 1) * DIGITS));
    for (const row of new Set(many > 0 ? [0, many - 1] : [])) {
      const base = at + row * width;
      const before = numbers.length > 0 ? 1 : 0;
      for (const [k, arg] of numbers.entries()) {
        const texts = (argv[base] ?? "").split(" ");
        const put = (value: string): string[] => argv.with(base, texts.with(k, value).join(" "));
        found.push({ ...arg, label: arg.name, values: VALUES, put });
      }
      for (const [k, arg] of cells.entries()) {
        const put = (value: string): string[] => argv.with(base + before + k, value);
        found.push({ ...arg, label: arg.name, values: VALUES, put });
      }
    }
    at += many * width;
  }
  expect(at, name).toBe(argv.length);
  return found;
}

/** Name and type of the key at each position to try: all fixed ones, of groups the first and last. */
function keyPositions(
  name: ScriptName,
  keys: readonly string[],
): { at: number; label: string; type: string }[] {
  const spec = SPECS[name];
  const fixed = spec.keys.map((key, at) => {
    if (key === "stamp" || key === "reserve:version") return { at, label: key, type: "string" };
    if (key === "reserve:nodes") return { at, label: key, type: "hash" };
    return { at, label: key, type: UNITS[key as Unit].type as string };
  });
  const ofJobs = keys.slice(fixed.length).map((key, n) => {
    const at = fixed.length + n;
    const parts = parseKey(key);
    if (parts.type === "unit")
      return { at, label: parts.unit, type: UNITS[parts.unit].type as string };
    const label = parts.type === "kind" ? parts.kind : "";
    return { at, label, type: KINDS[label as Kind] as string };
  });
  const edges = ofJobs.length > 17 ? [...ofJobs.slice(0, 5), ...ofJobs.slice(-12)] : ofJobs;
  return [...fixed, ...edges];
}

const failed = (outcome: Outcome): string => ("error" in outcome ? outcome.error : "");

describe.each(ENGINES)("refused calls write nothing on %s", (engine) => {
  let server: TestServer;
  let base: Bench;
  let b: Bench;
  let dump: Awaited<ReturnType<typeof dumpAll>>;
  let before: string;
  let filled = "";

  beforeAll(async () => {
    server = await startServer({ engine });
    base = await openBench(engine, server.url);
  });
  afterAll(async () => {
    await closeBench(base);
    await server?.stop();
  });

  /** Only `add` needs the many jobs of a batch that flushes its events half way. */
  async function fill(name: ScriptName): Promise<void> {
    const waits = name === "add" ? MANY : 3;
    const plain = name === "turn";
    const closing = name === "wipe" || name === "unschedule";
    const scheduled = name === "unschedule";
    const kind = `${waits} ${plain} ${closing} ${scheduled}`;
    if (filled === kind) return;
    filled = kind;
    await base.redis.flushall();
    b = await base.fresh();
    if (closing) await populateClosing(b, scheduled);
    else await populate(b, waits);
    // Under a limit `turn` leaves the work to `step`.
    if (plain) await b.redis.hdel(b.unit("meta"), "concurrency", "rate.max");
    dump = await dumpAll(b.redis);
    before = await digest(b.redis);
  }

  /** An error must leave everything as it was; after anything else the population is put back. */
  async function unchanged(outcome: Outcome, label: string, from = before): Promise<void> {
    if ("error" in outcome) expect(await digest(b.redis), `${label}: ${outcome.error}`).toBe(from);
    else await restoreAll(b.redis, dump);
  }

  test.each(NAMES)(
    "%s takes its valid call, and changes something where it writes",
    async (name) => {
      await fill(name);
      const outcome = await raw(b, name, encodedCall(name, b.q));
      expect(failed(outcome)).toBe("");
      if (SPECS[name].writes) expect(await digest(b.redis)).not.toBe(before);
      else expect(await digest(b.redis)).toBe(before);
      await restoreAll(b.redis, dump);
      expect(await digest(b.redis)).toBe(before);
    },
  );

  test.each(NAMES)("%s: every argument of every bad value", async (name) => {
    await fill(name);
    const { keys, argv } = encodedCall(name, b.q);
    for (const { label, type, most = 2 ** 53 - 1, values, put } of positions(name, argv)) {
      for (const value of values) {
        const bad = put(value);
        const outcome = await raw(b, name, { keys, argv: bad });
        const what = `${name}.${label} = ${JSON.stringify(value.slice(0, 20))}`;
        const whole = values === VALUES ? /^\d+$/ : /^\d{3}$/;
        const fits = type === "int" && whole.test(value) && Number(value) <= most;
        if (type === "int" && !fits) expect(failed(outcome), what).toMatch(/^EMQARG \S/);
        else expect(failed(outcome), what).toMatch(/^(?:EMQ\w+ \S|$)/);
        await unchanged(outcome, what);
      }
    }
    // Not by its dump: what was restored may stand in another order.
    expect(await digest(b.redis)).toBe(before);
  });

  test.each(NAMES)("%s: arguments and keys too few and too many", async (name) => {
    await fill(name);
    const { keys, argv } = encodedCall(name, b.q);
    const calls = [
      { keys, argv: argv.slice(0, -1) },
      { keys, argv: argv.slice(1) },
      { keys, argv: [] },
      { keys, argv: [...argv, "1"] },
      { keys: keys.slice(0, -1), argv },
      { keys: [...keys, `emq:{${b.q}}:v2:job:more`], argv },
      { keys: keys.slice(0, 1), argv },
    ].filter((call) => call.argv.length !== argv.length || call.keys.length !== keys.length);
    for (const call of calls) {
      const outcome = await raw(b, name, call);
      const what = `${name} with ${call.keys.length} keys and ${call.argv.length} arguments`;
      expect(failed(outcome), what).toMatch(/^EMQARG \S/);
      await unchanged(outcome, what);
    }
    const bare = await raw(b, name, { keys: [], argv });
    expect(failed(bare)).not.toBe("");
    await unchanged(bare, `${name} without keys`);
    // Not by its dump: what was restored may stand in another order.
    expect(await digest(b.redis)).toBe(before);
  });

  test.each(NAMES)("%s: every key of every wrong type", async (name) => {
    await fill(name);
    const call = encodedCall(name, b.q);
    const indifferent = new Set<string>();
    for (const { at, label, type } of keyPositions(name, call.keys)) {
      for (const wrong of TYPES) {
        if (wrong === type) continue;
        const key = call.keys[at] ?? "";
        await place(b.redis, key, wrong);
        const placed = await digest(b.redis);
        const outcome = await raw(b, name, call);
        const what = `${name} with a ${wrong} at ${label}`;
        if ("error" in outcome) {
          expect(outcome.error, what).toMatch(/^(?:WRONGTYPE|EMQFENCE wrongtype|EMQSTATE \S)/);
        } else indifferent.add(label);
        await unchanged(outcome, what, placed);
        if ("error" in outcome) await restoreKey(b.redis, key, dump);
      }
    }
    expect([...indifferent].sort()).toEqual([...(INDIFFERENT[name] ?? [])].sort());
    // Not by its dump: what was restored may stand in another order.
    expect(await digest(b.redis)).toBe(before);
  });
});
