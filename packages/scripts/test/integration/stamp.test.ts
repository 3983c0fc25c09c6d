import { startServer, type TestServer } from "@echomq/testkit";
import { stampKey } from "@echomq/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SPECS } from "../../src/index.js";
import { type Bench, closeBench, ENGINES, openBench } from "../support/bench.js";
import { NAMES, populate } from "../support/population.js";
import { digest, encodedCall, place, raw, TYPES } from "../support/raw.js";

const FOREIGN = [
  "",
  "echomq:3.0.0",
  "echomq:2",
  "ECHOMQ:2.0.0",
  " echomq:2.0.0",
  "echomq:migrating:r:copy",
  "bullmq:5.65.1",
  "\u0000echomq:2.0.0",
  "x\nEMQARG y\r\n+OK\r\n",
  "\n",
  "*".repeat(1_000_000),
  "é".repeat(100),
];

describe.each(ENGINES)("the fence of every script on %s", (engine) => {
  let server: TestServer;
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    server = await startServer({ engine });
    base = await openBench(engine, server.url);
    b = await base.fresh();
    await populate(b, 3);
  });
  afterAll(async () => {
    await closeBench(base);
    await server?.stop();
  });

  const fenceKey = (name: string): string => (name === "node" ? "{emq}:version" : stampKey(b.q));

  async function refused(name: (typeof NAMES)[number], found: RegExp): Promise<void> {
    const before = await digest(b.redis);
    const outcome = await raw(b, name, encodedCall(name, b.q));
    const error = "error" in outcome ? outcome.error : JSON.stringify(outcome);
    expect(error.slice(0, 200)).toMatch(found);
    expect(error.length).toBeLessThan(160);
    expect(error).not.toMatch(/[\r\n]/);
    expect(await digest(b.redis)).toBe(before);
  }

  test.each(NAMES)("%s refuses every other text and type, and writes nothing", async (name) => {
    const key = fenceKey(name);
    for (const text of FOREIGN) {
      await b.redis.set(key, text);
      await refused(name, /^EMQFENCE .*\S/);
    }
    for (const type of TYPES.slice(1)) {
      await place(b.redis, key, type);
      await refused(name, /^EMQFENCE wrongtype$/);
    }
    await b.redis.del(key);
    // `init` opens what is empty and `node` is the first to write its reserve; `v2:meta` stands here.
    if (name !== "node") await refused(name, /^EMQFENCE none$/);
    await b.redis.set(stampKey(b.q), "echomq:2.0.0");
  });

  test.each(NAMES)("%s takes a newer minor and patch", async (name) => {
    await b.redis.set(fenceKey(name), "echomq:2.31.4-next");
    // Under a limit `turn` leaves the work to `step`.
    if (name === "turn") await b.redis.hdel(b.unit("meta"), "concurrency", "rate.max");
    const outcome = await raw(b, name, encodedCall(name, b.q));
    expect("error" in outcome ? outcome.error : "").toBe("");
  });

  test("the fence comes before the arguments", async () => {
    await b.redis.set(stampKey(b.q), "echomq:3.0.0");
    for (const name of NAMES.filter((one) => SPECS[one].fence === "step")) {
      const { keys } = encodedCall(name, b.q);
      const outcome = await raw(b, name, { keys: keys.slice(0, 1), argv: [] });
      expect(outcome).toEqual({ error: "EMQFENCE echomq:3.0.0" });
    }
  });
});
