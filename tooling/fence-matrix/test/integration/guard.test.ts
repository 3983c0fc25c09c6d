import { Queue } from "@echomq/core";
import { createMigration } from "@echomq/migrate";
import { type GuardClient, guardV1Queue } from "@echomq/migrate/v1-guard";
import { dumpAll, type Engine, startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { reserveKey, stampKey } from "@echomq/wire";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES, MAKERS } from "../../src/lines.js";
import { V1Client } from "../../src/v1-client.js";
import { admin, openDriver, thrownBy, verdict } from "../support/clients.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];

interface OpenClient {
  readonly client: GuardClient;
  close(): void;
}

/** Clients as a v1 service has them. */
const CLIENTS: Record<string, (url: string) => Promise<OpenClient>> = {
  ioredis: async (url) => {
    const client = new Redis(url);
    client.on("error", () => undefined);
    return { client: client as unknown as GuardClient, close: () => client.disconnect() };
  },
  "node-redis": async (url) => {
    const client = createClient({ url });
    client.on("error", () => undefined);
    await client.connect();
    return { client: client as unknown as GuardClient, close: () => client.destroy() };
  },
};

describe.each(ENGINES)("the guard of v1 services on %s", (engine) => {
  let server: TestServer;
  let redis: Redis;
  const v1 = new Map<string, V1Client>();

  beforeAll(async () => {
    server = await startServer({ engine });
    redis = admin(server.url);
    await Promise.all(
      LINES.map(async (line) => v1.set(line.version, await V1Client.start(line, server.port))),
    );
  });

  afterAll(async () => {
    await Promise.all([...v1.values()].map((client) => client.stop()));
    redis.disconnect();
    await server.stop();
  });

  function v1Of(version: string): V1Client {
    const client = v1.get(version);
    if (client === undefined) throw new Error(`no ${version}`);
    return client;
  }

  describe.each(Object.keys(CLIENTS))("with a client of %s", (name) => {
    let own: OpenClient;

    beforeAll(async () => {
      own = (await CLIENTS[name]?.(server.url)) as OpenClient;
    });

    afterAll(() => own.close());

    async function expectRefused(queue: string, prefix: string, want: string): Promise<void> {
      const before = await lasting();
      const error = await thrownBy(() => guardV1Queue(own.client, { queue, prefix }));
      expect(verdict(error)).toBe(want);
      expect(error.message).toContain(`found ${error.found} at key ${error.probe}`);
      expect(await lasting()).toEqual(before);
    }

    /** Every key but the stalled checks, which end by time. */
    async function lasting(): Promise<unknown> {
      return [...(await dumpAll(redis))].filter(([key]) => !key.endsWith(":stalled-check"));
    }

    test("nothing, and every queue of v1, may go on", async () => {
      const before = await lasting();
      await guardV1Queue(own.client, { queue: uniqueQueue() });
      expect(await lasting()).toEqual(before);
      for (const { version } of LINES) {
        for (const by of MAKERS) {
          for (const prefix of ["bull", "{bull}", "emq", "acme"]) {
            const q = uniqueQueue();
            for (const queue of [q, `{${q}}`]) {
              await v1Of(version).make(by, { prefix, queue });
              await guardV1Queue(own.client, { queue, prefix });
            }
          }
        }
      }
    });

    test("V2_KEYSPACE", async () => {
      const driver = await openDriver("ioredis", server.url);
      await using queue = new Queue(uniqueQueue(), { connection: driver });
      const q = queue.name;
      await queue.add("first", {});
      const stamp = stampKey(q);
      for (const [spelled, prefix] of [
        [q, "bull"],
        [`{${q}}`, "bull"],
        [`{${q}}`, "emq"],
        [q, "acme"],
      ] as const) {
        await expectRefused(spelled, prefix, `V2_KEYSPACE echomq:2.0.0 at ${stamp}`);
      }
      await redis.set(stamp, "echomq:3.1.0");
      await expectRefused(q, "bull", `V2_KEYSPACE echomq:3.1.0 at ${stamp}`);
      await redis.del(stamp);
      await expectRefused(q, "bull", `V2_KEYSPACE no stamp at ${stamp}`);
      await v1Of("6.7.0").make("queue", { prefix: "emq", queue: `{${q}}` });
      await expectRefused(`{${q}}`, "emq", `V2_KEYSPACE bullmq:6.7.0 at ${stamp}`);
      await queue.close();
      await driver.close();
    });

    test.each([
      { prefix: "bull", braced: false },
      { prefix: "acme", braced: true },
      { prefix: "emq", braced: true },
    ])("a move of $prefix, braced $braced, under way and ended", async ({ prefix, braced }) => {
      const q = uniqueQueue();
      const queue = braced ? `{${q}}` : q;
      await v1Of("5.65.1").make("queue", { prefix, queue });
      const driver = await openDriver("ioredis", server.url);
      const migration = await createMigration({ source: driver, queue, prefix });
      const { run } = await migration.fence();
      const moving = `echomq:migrating:${run}:fence at ${stampKey(q)}`;
      const journal = `run ${run}, phase fence at ${reserveKey("migration", q)}`;
      const error = await thrownBy(() => guardV1Queue(own.client, { queue, prefix }));
      expect([moving, journal].map((text) => `MIGRATION_IN_PROGRESS ${text}`)).toContain(
        verdict(error),
      );
      await migration.runAll();
      await migration.close();
      await driver.close();
      const inPlace = prefix === "emq";
      await expectRefused(
        queue,
        prefix,
        inPlace
          ? `V2_KEYSPACE echomq:2.0.0 at ${stampKey(q)}`
          : `MIGRATION_TOMBSTONE echomq:moved:${run}:done:${q} at ${prefix}:${queue}:meta`,
      );
    });

    test("FOREIGN_VERSION", async () => {
      const q = uniqueQueue();
      await redis.set(`bull:${q}:meta`, "rocket");
      await expectRefused(q, "bull", `FOREIGN_VERSION rocket at bull:${q}:meta`);
      await redis.set(stampKey(q), "hello");
      await redis.del(`bull:${q}:meta`);
      await expectRefused(q, "bull", `FOREIGN_VERSION hello at ${stampKey(q)}`);
    });

    test("a probe that the server refuses is an error, never a pass", async () => {
      const user = `guard-${name}`;
      await redis.call("ACL", "SETUSER", user, "on", `>${user}`, "~bull:*", "+@all");
      const limited = await CLIENTS[name]?.(server.url.replace("//", `//${user}:${user}@`));
      const client = limited?.client as GuardClient;
      const error = await thrownBy(() => guardV1Queue(client, { queue: "orders" }));
      expect(error).toMatchObject({ code: "NOPERM" });
      limited?.close();
    });
  });
});
