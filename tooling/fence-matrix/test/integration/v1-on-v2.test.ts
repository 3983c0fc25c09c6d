import type { RedisDriver } from "@echomq/scripts";
import { startServer, type TestServer } from "@echomq/testkit";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES } from "../../src/lines.js";
import { STEADY, tryVerbs } from "../../src/try-verbs.js";
import { V1Client } from "../../src/v1-client.js";
import { admin, openDriver } from "../support/clients.js";
import { expectNothingOut, expectRefusals, SECRET } from "../support/expect-verbs.js";
import { liveQueue } from "../support/live-queue.js";

/** The stamp, every v2 structure, and the keys of all queues. */
const GUARDED = /^emq:\{orders\}:(meta$|v2:)|^\{emq\}:/;
/** What v1 may leave beside them; no v2 program ever looks there. */
const LEFT = /^emq:\{orders\}:(id|repeat|repeat:\w+|events|limiter|stalled-check|\d+:logs)$/;
/** It takes the unit `v2:failed` for what a removed job named `v2` left; docs/fence.md says so. */
const UNSTOPPED = ["Queue.removeOrphanedJobs: emq:{orders}:v2:failed"];

describe.each(LINES)("stock $version at prefix emq on a live v2 queue", (line) => {
  let server: TestServer;
  let driver: RedisDriver;
  let redis: Redis;

  beforeAll(async () => {
    server = await startServer({ args: STEADY });
    driver = await openDriver("ioredis", server.url);
    redis = admin(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await driver.close();
    await server.stop();
  });

  test("no call changes a v2 structure, and no job goes in or out", async () => {
    await using live = await liveQueue("orders", driver, SECRET);
    await using client = await V1Client.start(line, server.port);
    const { calls, forgotten } = await client.surface();
    expect(forgotten).toEqual([]);
    await client.open({ prefix: "emq", queue: "{orders}", ids: live.ids, ready: true });

    const tried = await tryVerbs(client, redis, calls, (key) => GUARDED.test(key));

    const broke = tried.flatMap(({ name, broke }) => broke.map((key) => `${name}: ${key}`));
    expect(broke).toEqual(line.version === "6.7.0" ? UNSTOPPED : []);
    expectRefusals(tried);
    expectNothingOut(tried);
    const left = tried.flatMap(({ left }) => left.filter((key) => !LEFT.test(key)));
    expect(left).toEqual([]);
    // The running job ends and the next ones run as if nobody had been there.
    expect(await live.finish()).toEqual(
      ["active", "waiting", "prioritized"].map((is) => ({ name: is, data: { is, text: SECRET } })),
    );
  });
});
