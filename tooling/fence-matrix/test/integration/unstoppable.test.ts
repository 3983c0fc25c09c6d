import type { RedisDriver } from "@echomq/scripts";
import { dumpAll, type KeyDump, startServer, type TestServer } from "@echomq/testkit";
import { kindKey } from "@echomq/wire";
import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LINES } from "../../src/lines.js";
import { STEADY } from "../../src/try-verbs.js";
import { V1Client } from "../../src/v1-client.js";
import { admin, openDriver, thrownBy } from "../support/clients.js";
import { SECRET } from "../support/expect-verbs.js";
import { type LiveQueue, liveQueue } from "../support/live-queue.js";

/** Everything here is told in docs/fence.md, with the way to close it. */
describe("what no fence can stop", () => {
  let server: TestServer;
  let driver: RedisDriver;
  let redis: Redis;

  beforeAll(async () => {
    server = await startServer({ args: STEADY });
    driver = await openDriver("ioredis", server.url);
    redis = admin(server.url);
    // The line of docs/fence.md.
    const rules = "resetkeys resetchannels clearselectors ~bull:* -@all +@all -@admin -@dangerous";
    const more = "+info +client|list";
    await redis.call("ACL", "SETUSER", "v1", "on", ">v1", ...`${rules} ${more}`.split(" "));
  });

  beforeEach(() => redis.flushdb());

  afterAll(async () => {
    redis.disconnect();
    await driver.close();
    await server.stop();
  });

  const place = { prefix: "emq", queue: "{orders}" } as const;
  const v2Keys = async (): Promise<Map<string, KeyDump>> =>
    new Map([...(await dumpAll(redis))].filter(([key]) => /^emq:\{orders\}:(meta$|v2:)/.test(key)));

  describe.each(LINES)("$version", (line) => {
    let client: V1Client;

    beforeAll(async () => {
      client = await V1Client.start(line, server.port);
    });

    afterEach(() => client.close());

    afterAll(() => client.stop());

    test("a flow of the whole family but 6 reports success, and nothing stands", async () => {
      await using _live = await liveQueue("orders", driver, SECRET);
      await client.open({ ...place, ready: true });
      const before = await v2Keys();
      const add = await client.verb("FlowProducer.add");
      const bulk = await client.verb("FlowProducer.addBulk");
      if (line.version === "6.7.0") {
        expect(add).toMatchObject({ end: "threw", error: expect.stringMatching(/^WRONGTYPE/) });
      } else {
        expect(add).toMatchObject({ end: "returned", value: '"success"' });
      }
      expect(bulk).toMatchObject({ end: "returned", value: '"success"' });
      expect(await v2Keys()).toEqual(before);
      expect(await redis.exists("emq:{orders}:wait", "emq:{orders}:waiting-children")).toBe(0);
    });

    test("a listener is never refused: it hears silence while v2 works", async () => {
      await using live = await liveQueue("orders", driver, SECRET);
      await client.open({ ...place, ready: true });
      await client.script(`
        c.heard = 0;
        for (const event of ["waiting", "active", "completed", "failed"])
          c.events.on(event, () => { c.heard += 1; });
        c.events.run().catch(() => undefined);
        await c.events.waitUntilReady();
      `);
      expect(await live.finish()).toHaveLength(3);
      // An event of its own comes after all of v2's would have come.
      const key = "emq:{orders}:events";
      expect(await client.script("return c.heard")).toBe(0);
      await expect
        .poll(async () => {
          await redis.xadd(key, "*", "event", "waiting", "jobId", "1");
          return client.script("return c.heard");
        })
        .toBeGreaterThan(0);
    });

    test("the constructor on a stamp is refused; that of 5.0.0 ends its process", async () => {
      await using _live = await liveQueue("orders", driver, SECRET);
      await using careless = await V1Client.start(line, server.port, false);
      const before = await v2Keys();
      await careless.open(place);
      const built = careless.script(`
        await c.queue.waitUntilReady();
        await new Promise((resolve) => setTimeout(resolve, 300));
        return "alive";
      `);
      if (line.version === "5.0.0") {
        const error = await thrownBy(() => built);
        expect(error.message).toContain("the v1 process ended (1)");
        expect(await careless.exited()).toBe(1);
        expect(careless.stderr).toContain("WRONGTYPE");
      } else {
        expect(await built).toBe("alive");
      }
      expect(await v2Keys()).toEqual(before);
    });

    test("a v2 unit spelled as a job id reaches that hash; a user of its own closes it", async () => {
      await using live = await liveQueue("orders", driver, SECRET);
      const id = `v2:job:${live.ids.waiting}`;
      const body = `
        const job = await c.queue.getJob(${JSON.stringify(id)});
        const seen = job.data.text;
        await (job.updateData ?? job.update).call(job, { by: "v1" });
        return seen;
      `;
      const hash = kindKey("orders", "job", live.ids.waiting ?? "");
      const before = await v2Keys();
      await client.open({ ...place, user: "v1", ready: true }).catch(() => undefined);
      expect(await thrownBy(() => client.script(body))).toMatchObject({
        message: expect.stringMatching(/NOPERM|can't access at least one of the keys/),
      });
      expect(await v2Keys()).toEqual(before);

      await client.open({ ...place, ready: true });
      expect(await client.script(body)).toBe(SECRET);
      expect(await redis.hget(hash, "data")).toBe('{"by":"v1"}');
    });

    test("a worker that is refused by the newer lines asks again without a pause", async () => {
      await using _live = await liveQueue("orders", driver, SECRET);
      await client.open({ ...place, ready: true });
      const { errors, messages } = await client.verb("Worker.run");
      expect(messages.join()).toContain("WRONGTYPE");
      if (line.version < "5.65") expect(errors).toBe(1);
      else expect(errors).toBeGreaterThan(5);
    });
  });

  test("removeOrphanedJobs of 6.7.0 takes the list of failed jobs; a user of its own closes it", async () => {
    const [line] = LINES.slice(-1);
    if (line === undefined) throw new Error("no line");
    const live: LiveQueue = await liveQueue("orders", driver, SECRET);
    await using client = await V1Client.start(line, server.port);
    const failed = "emq:{orders}:v2:failed";
    const before = await v2Keys();

    await client.open({ ...place, user: "v1", ready: true }).catch(() => undefined);
    const refused = await client.verb("Queue.removeOrphanedJobs");
    expect(refused).toMatchObject({ end: "threw" });
    expect(await v2Keys()).toEqual(before);

    await client.open({ ...place, ready: true });
    await client.verb("Queue.removeOrphanedJobs");
    const after = await v2Keys();
    expect([...before.keys()].filter((key) => !after.has(key))).toEqual([failed]);
    // The jobs themselves stand; the wire loses sight of those that had failed.
    expect(after.has(kindKey("orders", "job", live.ids.failed ?? ""))).toBe(true);
    await live[Symbol.asyncDispose]();
  });
});
