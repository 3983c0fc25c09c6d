import { sharedServer, strictDriver, uniqueQueue } from "@echomq/testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDriverFault } from "../../src/index.js";
import { Bench, ENGINES, openDriver } from "../support/bench.js";
import { NAMES, populate } from "../support/population.js";
import { encodedCall, raw } from "../support/raw.js";

describe.each(ENGINES)("under strict mode on %s", (engine) => {
  let b: Bench;
  beforeAll(async () => {
    const { url } = await sharedServer(engine);
    const driver = await strictDriver({ url, make: openDriver });
    b = new Bench(uniqueQueue(), new Redis(url), driver);
    b = await b.fresh();
    await populate(b, 3);
  });
  afterAll(async () => {
    b.redis.disconnect();
    await b.driver.close();
  });

  test.each(NAMES)("%s touches only keys of its call", async (name) => {
    // Under a limit `turn` leaves the work to `step`.
    if (name === "turn") await b.redis.hdel(b.unit("meta"), "concurrency", "rate.max");
    expect(await raw(b, name, encodedCall(name, b.q))).toHaveProperty("reply");
  });

  test("a script that reaches for a key it was not given is refused", async () => {
    const source = "return redis.call('GET', KEYS[1] .. ':other')";
    const call = b.driver.command(["EVAL", source, "1", b.stamp]);
    const error: unknown = await call.catch((reason: unknown) => reason);
    expect(isDriverFault(error, "reply")).toBe(true);
    expect(String(error)).toMatch(/can't access|ACL failure|No permissions/);
  });
});
