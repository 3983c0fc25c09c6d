import type { Command, Reply } from "@echomq/scripts";
import { encodeCall, isDriverFault, type RedisDriver } from "@echomq/scripts";
import { startServer, type TestServer } from "@echomq/testkit";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { journalScript } from "../../src/generated/bundle.js";
import { MIGRATION_REGISTRY } from "../../src/index.js";
import { CALLS } from "../support/calls.js";
import { contentOf, ENGINES, makeDriver, openClient } from "../support/servers.js";

const BAD = [
  "NaN",
  "Infinity",
  "-1",
  "1.5",
  "9007199254740992",
  "",
  "x",
  "0x10",
  "1e400",
  "echomq:migrating::copy",
];

/** Ways a key may hold another type than the script expects. */
const TYPES: Readonly<Record<string, (client: Redis, key: string) => Promise<unknown>>> = {
  string: (client, key) => client.set(key, "not a structure"),
  list: (client, key) => client.rpush(key, "x"),
  hash: (client, key) => client.hset(key, "x", "y"),
  zset: (client, key) => client.zadd(key, 1, "x"),
  set: (client, key) => client.sadd(key, "x"),
  stream: (client, key) => client.xadd(key, "*", "x", "y"),
};

describe.each(ENGINES)("scripts on %s", (engine) => {
  let server: TestServer;
  let client: Redis;
  let driver: RedisDriver;

  beforeAll(async () => {
    server = await startServer({ engine });
    client = openClient(server.url);
    driver = await makeDriver(server.url);
  });

  afterAll(async () => {
    await driver.close();
    client.disconnect();
    await server.stop();
  });

  test("every script has a valid call here, and it succeeds twice", async () => {
    expect(new Set(CALLS.map(({ script }) => script.spec.name))).toEqual(
      new Set(Object.keys(MIGRATION_REGISTRY)),
    );
    for (const { script, call, prepare } of CALLS) {
      await client.flushall();
      await prepare(client);
      const name = script.spec.name;
      expect(await outcome(script.source, call), name).not.toMatch(/^error/);
      if (script.spec.repeatable) {
        expect(await outcome(script.source, call), name).not.toMatch(/^error/);
      }
    }
  });

  test.each(CALLS.map(({ script }, at) => [`${at} ${script.spec.name}`, at]))(
    "%s: whatever it refuses, it has written nothing",
    { timeout: 120_000 },
    async (_, at) => {
      const { script, call, prepare } = CALLS[Number(at)] as (typeof CALLS)[number];
      const { keys, argv } = call;
      let refused = 0;
      const attempt = async (
        what: string,
        mutated: typeof call,
        spoil?: () => Promise<unknown>,
      ): Promise<void> => {
        await client.flushall();
        await prepare(client);
        await spoil?.();
        const before = await contentOf(client, "*");
        const answer = await outcome(script.source, mutated);
        if (!answer.startsWith("error")) return;
        refused += 1;
        expect(answer, what).toMatch(/^error (EMQ[A-Z]+ \S|WRONGTYPE )/);
        expect(await contentOf(client, "*"), what).toEqual(before);
      };
      for (const [n] of argv.entries()) {
        for (const bad of BAD) {
          await attempt(`argument ${n} = ${bad}`, { keys, argv: argv.toSpliced(n, 1, bad) });
        }
        await attempt(`argument ${n} missing`, { keys, argv: argv.toSpliced(n, 1) });
      }
      await attempt("an argument too many", { keys, argv: [...argv, "1"] });
      await attempt("a key too many", { keys: [...keys, "more"], argv });
      await attempt("a key missing", { keys: keys.slice(0, -1), argv });
      for (const key of new Set(keys)) {
        for (const [type, put] of Object.entries(TYPES)) {
          await attempt(`${key} is a ${type}`, call, async () => {
            await client.del(key);
            await put(client, key);
          });
        }
      }
      expect(refused).toBeGreaterThan(5);
    },
  );

  test("a script of another run is refused, whatever else is right", async () => {
    for (const { script, call, prepare } of CALLS) {
      if (script.spec.keys[0] !== "stamp") continue;
      await client.flushall();
      await prepare(client);
      for (const stamp of ["echomq:migrating:other:copy", "echomq:3.0.0", "bullmq:5.65.1", ""]) {
        await client.set("emq:{q}:meta", stamp);
        const before = await contentOf(client, "*");
        expect(await outcome(script.source, call), script.spec.name).toMatch(/^error EMQFENCE \S/);
        expect(await contentOf(client, "*"), script.spec.name).toEqual(before);
      }
    }
  });

  test("a journal is taken over as it was seen, and not once its run has gone on", async () => {
    const write = (over: string): Promise<string> => {
      const args = { run: "mine", phase: "copy", step: "write", over };
      return outcome(
        journalScript.source,
        encodeCall(journalScript.spec, { q: "q", args, rows: [] }),
      );
    };
    const journal = "{emq}:migration:q";
    await client.flushall();
    await client.hset(journal, "run", "other", "phase", "plan");
    const seen = /^error EMQFENCE run (.*)$/.exec(await write(""))?.[1];
    expect(seen).toBe("other plan");
    await client.hset(journal, "phase", "fence");
    expect(await write("other plan")).toBe("error EMQFENCE run other fence");
    expect(await client.hget(journal, "run")).toBe("other");
    expect(await write("other fence")).toBe("reply 1");
    expect(await client.hmget(journal, "run", "phase")).toEqual(["mine", "copy"]);
  });

  async function outcome(
    source: string,
    call: { keys: readonly string[]; argv: readonly string[] },
  ): Promise<string> {
    const command: Command = ["EVAL", source, String(call.keys.length), ...call.keys, ...call.argv];
    try {
      const reply: Reply = await driver.command(command);
      return `reply ${JSON.stringify(reply)}`;
    } catch (error) {
      if (!isDriverFault(error, "reply")) throw error;
      return `error ${error.message}`;
    }
  }
});
