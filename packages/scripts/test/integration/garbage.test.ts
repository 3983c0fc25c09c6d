import { startServer, type TestServer } from "@echomq/testkit";
import type { Unit } from "@echomq/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, closeBench, ENGINES, openBench } from "../support/bench.js";
import { NAMES, populate } from "../support/population.js";
import { digest, dumpAll, encodedCall, raw, restoreAll } from "../support/raw.js";

const TEXTS = [
  "nan",
  "inf",
  "-inf",
  "-1",
  "1.5",
  "1e400",
  "0x10",
  "x",
  "",
  "9".repeat(30),
  "!",
  ":",
];
const SCORES = ["inf", "-inf", "0", "1.5", "-1", "9007199254740993", "1e300"];
const HASHES: readonly Unit[] = ["owners", "priorities", "verdicts"];
const SETS: readonly Unit[] = ["delayed", "prioritized", "active", "completed", "trash", "marker"];
const OPTIONS = ["concurrency", "events.max", "version", "opened"];
const FIELDS = ["stc", "ats", "atm", "timestamp", "delay", "priority", "name"];

// Keys of the right type whose content no script of ours would write: a hand, or a later version, did.
describe.each(ENGINES)("garbage in the right place on %s", (engine) => {
  let server: TestServer;
  let base: Bench;
  let b: Bench;
  let dump: Awaited<ReturnType<typeof dumpAll>>;
  beforeAll(async () => {
    server = await startServer({ engine });
    base = await openBench(engine, server.url);
    await base.redis.flushall();
    b = await base.fresh();
    await populate(b, 3);
    dump = await dumpAll(b.redis);
  });
  afterAll(async () => {
    await closeBench(base);
    await server?.stop();
  });

  async function spoil(text: string): Promise<void> {
    const batch = b.redis.pipeline();
    for (const unit of HASHES) {
      for (const field of await b.redis.hkeys(b.unit(unit))) batch.hset(b.unit(unit), field, text);
    }
    for (const option of OPTIONS) batch.hset(b.unit("meta"), option, text);
    for (const id of ["a1", "2", "a3", "w0", "7"]) {
      for (const field of FIELDS) batch.hset(b.job(id), field, text);
    }
    batch.hset("{emq}:nodes", { "0": text, x: `1:${text}`, "5": "9999999999999:n" });
    await batch.exec();
  }

  async function skew(score: string): Promise<void> {
    const batch = b.redis.pipeline();
    for (const unit of SETS) {
      for (const id of await b.set(unit)) batch.zadd(b.unit(unit), "XX", score, id);
    }
    await batch.exec();
  }

  async function wholeOrNothing(name: (typeof NAMES)[number], what: string): Promise<void> {
    const before = await digest(b.redis);
    const outcome = await raw(b, name, encodedCall(name, b.q));
    if ("error" in outcome) {
      expect(outcome.error, what).toMatch(/^EMQ[A-Z]+ \S/);
      expect(await digest(b.redis), what).toBe(before);
    }
    await restoreAll(b.redis, dump);
  }

  test.each(NAMES)("%s acts whole or not at all", async (name) => {
    for (const text of TEXTS) {
      await spoil(text);
      await wholeOrNothing(name, `${name} over ${JSON.stringify(text)}`);
    }
    for (const score of SCORES) {
      await skew(score);
      await wholeOrNothing(name, `${name} over scores of ${score}`);
    }
    for (const text of TEXTS) {
      await b.redis.set(b.unit("pc"), text);
      await wholeOrNothing(name, `${name} over a sequence of ${JSON.stringify(text)}`);
    }
  });
});
