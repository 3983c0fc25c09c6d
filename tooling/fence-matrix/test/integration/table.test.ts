import { Queue, Worker } from "@echomq/core";
import { createMigration } from "@echomq/migrate";
import type { RedisDriver } from "@echomq/scripts";
import { dumpAll, type Engine, startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { reserveKey, stampKey, unitKey } from "@echomq/wire";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES } from "../../src/lines.js";
import { V1Client } from "../../src/v1-client.js";
import { admin, contacts, DRIVERS, openDriver, thrownBy, verdict } from "../support/clients.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];
const LATE = LINES.filter(({ version }) => version === "5.65.1" || version === "6.7.0");

describe.each(ENGINES)("the fence's table on %s", (engine) => {
  let server: TestServer;
  let redis: Redis;
  let v1: readonly V1Client[];

  beforeAll(async () => {
    server = await startServer({ engine });
    redis = admin(server.url);
    v1 = await Promise.all(LATE.map((line) => V1Client.start(line, server.port)));
  });

  afterAll(async () => {
    await Promise.all(v1.map((client) => client.stop()));
    redis.disconnect();
    await server.stop();
  });

  describe.each(DRIVERS)("through %s", (name) => {
    let driver: RedisDriver;

    beforeAll(async () => {
      driver = await openDriver(name, server.url);
    });

    afterAll(() => driver.close());

    /** Every contact answers the same, and nothing is written. */
    async function expectRefused(q: string, want: string): Promise<void> {
      const before = await dumpAll(redis);
      const thrown = await contacts(q, driver);
      const said = Object.entries(thrown).map(([who, error]) => `${who}: ${verdict(error)}`);
      expect(said).toEqual(Object.keys(thrown).map((who) => `${who}: ${want}`));
      // What was found and where, what it means, and the next command, in one line.
      const { found, probe, message } = thrown.work;
      expect(message).toContain(`"${q}"`);
      expect(message).toContain(`: found ${found} at key ${probe}`);
      expect(message).toContain("nothing was written");
      expect(message).toMatch(/: (npx -p @echomq\/migrate .*|npm install .*|redis-cli .*)$/);
      expect(await dumpAll(redis)).toEqual(before);
    }

    async function opened(): Promise<string> {
      await using queue = new Queue(uniqueQueue(), { connection: driver });
      await queue.add("first", {});
      return queue.name;
    }

    test("nothing: a reader creates nothing, the first write opens the queue", async () => {
      await using queue = new Queue(uniqueQueue(), { connection: driver });
      await queue.waitUntilReady();
      expect(await queue.getJob("1")).toBeNull();
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 0 });
      expect(await redis.keys(`*${queue.name}*`)).toEqual([]);
      await queue.add("first", {});
      expect(await redis.get(stampKey(queue.name))).toBe("echomq:2.0.0");
      const [version, since] = await redis.hmget(unitKey(queue.name, "meta"), "version", "opened");
      expect(version).toBe("echomq:2.0.0");
      expect(Number(since)).toBeGreaterThan(0);
    });

    test("echomq:2.x: a newer minor is fine", async () => {
      const q = await opened();
      await redis.set(stampKey(q), "echomq:2.7.3");
      await using queue = new Queue(q, { connection: driver });
      await queue.add("second", {});
      expect(await queue.getJobCounts()).toMatchObject({ waiting: 2 });
    });

    test("another major", async () => {
      const q = await opened();
      await redis.set(stampKey(q), "echomq:3.0.0");
      await expectRefused(q, `MAJOR_MISMATCH echomq:3.0.0 at ${stampKey(q)}`);
      const other = uniqueQueue();
      await redis.set(reserveKey("version"), "echomq:1.9.0");
      await expectRefused(other, "MAJOR_MISMATCH echomq:1.9.0 at {emq}:version");
      await redis.del(reserveKey("version"));
    });

    test("a v2 queue without its stamp, or with a v1 hash in its place", async () => {
      const q = await opened();
      await redis.del(stampKey(q));
      await expectRefused(q, `V1_INTRUSION no stamp at ${stampKey(q)}`);
      for (const client of v1) {
        await redis.del(stampKey(q));
        await client.make("queue", { prefix: "emq", queue: `{${q}}` });
        await expectRefused(q, `V1_INTRUSION bullmq:${client.line.version} at ${stampKey(q)}`);
      }
    });

    test("a v1 queue of the same name beside a v2 queue refuses the next connection", async () => {
      const q = await opened();
      await using queue = new Queue(q, { connection: driver });
      await queue.add("second", {});
      await v1[0]?.make("queue", { prefix: "bull", queue: q });
      await queue.add("third", {});
      await expectRefused(q, `V1_KEYSPACE bullmq:5.65.1 at bull:${q}:meta`);
    });

    test("what neither program writes", async () => {
      const q = await opened();
      await redis.set(stampKey(q), "hello");
      await expectRefused(q, `FOREIGN_VERSION hello at ${stampKey(q)}`);
      await redis.set(stampKey(q), "");
      await expectRefused(q, `FOREIGN_VERSION an empty text at ${stampKey(q)}`);
      await redis.del(stampKey(q));
      await redis.lpush(stampKey(q), "1");
      await expectRefused(q, `FOREIGN_VERSION a key of another type at ${stampKey(q)}`);
      const other = uniqueQueue();
      await redis.hset(`bull:${other}:meta`, "version", "rocket:7");
      await expectRefused(other, `FOREIGN_VERSION rocket:7 at bull:${other}:meta`);
      const odd = uniqueQueue();
      await redis.set(`bull:{${odd}}:meta`, "rocket");
      await expectRefused(odd, `FOREIGN_VERSION rocket at bull:{${odd}}:meta`);
    });

    test("a move under way, given back, and ended, as the tool leaves them", async () => {
      const q = uniqueQueue();
      const [client] = v1;
      await client?.make("queue", { prefix: "bull", queue: q });
      const migration = await createMigration({ source: driver, queue: q });
      const { run } = await migration.fence();
      await expectRefused(
        q,
        `MIGRATION_IN_PROGRESS echomq:migrating:${run}:fence at ${stampKey(q)}`,
      );
      await migration.copy();
      await expectRefused(
        q,
        `MIGRATION_IN_PROGRESS echomq:migrating:${run}:copy at ${stampKey(q)}`,
      );
      await migration.rollback();
      await expectRefused(q, `V1_KEYSPACE bullmq:5.65.1 at bull:${q}:meta`);
      const again = await createMigration({ source: driver, queue: q });
      await again.runAll();
      await Promise.all([migration.close(), again.close()]);
      expect(await redis.type(`bull:${q}:meta`)).toBe("string");
      const ran = await runOne(q, driver);
      expect(ran).toEqual({ name: "first", data: { by: "queue" } });
    });

    test("a probe that the server refuses is an error that names the right, never a pass", async () => {
      const q = uniqueQueue();
      const user = `fence-${name}`;
      await redis.call("ACL", "SETUSER", user, "on", `>${user}`, "~emq:*", "~{emq}:*", "+@all");
      const limited = await openDriver(name, server.url.replace("//", `//${user}:${user}@`));
      await using queue = new Queue(q, { connection: limited });
      expect(await thrownBy(() => queue.add("first", {}))).toMatchObject({
        code: "NOPERM",
        message: expect.stringContaining(`may not run GET on bull:${q}:meta; grant this user`),
      });
      expect(await redis.keys(`*${q}*`)).toEqual([]);
      await queue.close();
      await limited.close();
    });
  });
});

async function runOne(q: string, connection: RedisDriver): Promise<unknown> {
  return new Promise((resolve) => {
    const worker = new Worker(
      q,
      async ({ name, data }) => {
        setImmediate(() => void worker.close().then(() => resolve({ name, data })));
      },
      { connection },
    );
  });
}
