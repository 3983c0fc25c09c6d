import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Queue } from "@echomq/core";
import { guardV1Queue } from "@echomq/migrate/v1-guard";
import { Dispatcher, type RedisDriver, stepScript } from "@echomq/scripts";
import { dumpAll, type Engine, startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { Queue as V1Queue, Worker as V1Worker } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { adminOf, driverOf, makeUser, paste, REFUSED } from "../support/acl-user.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];
const PAGE = fileURLToPath(new URL("../../../../docs/acl.md", import.meta.url));

describe.each(ENGINES)("on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server?.stop());

  /** A queue with jobs, its users, and the way to try a script of their own. */
  async function opened() {
    const admin = adminOf(server.url);
    const q = uniqueQueue("apart");
    const full = await driverOf({ name: "default", url: server.url, rules: [] });
    const queue = new Queue(q, { connection: full });
    onTestFinished(() => queue.close());
    await queue.add("x", { secret: 1 }, { jobId: "5" });
    const as = async (role: string) =>
      driverOf(await makeUser(server.url, "--queue", q, "--role", role));
    const key = (unit: string): string => `emq:{${q}}:v2:${unit}`;
    const own = (driver: RedisDriver, command: string, unit: string, ...args: string[]) => {
      const lua = `return redis.call('${command}', KEYS[1], unpack(ARGV))`;
      return driver.command(["EVAL", lua, "1", key(unit), ...args]);
    };
    return { admin, q, queue, as, key, own };
  }

  test("a producer cannot claim, settle or take jobs out of line", async () => {
    const { q, as, own } = await opened();
    const producer = await as("producer");
    const before = await dumpAll(server.url);
    const lane = Dispatcher.over(producer, { retryMs: 0 });
    const none = { begun: 0, hints: 0, keepCount: 0, keepAge: 0, rateMax: 0, rateMs: 0 };
    const args = { now: 1, claim: 1, deadline: 9, token: "t", ...none };
    const call = { q, done: [], candidates: [], results: [], args };
    await expect(lane.run(stepScript, call)).rejects.toThrow(REFUSED);
    await expect(own(producer, "RPOP", "wait")).rejects.toThrow(REFUSED);
    await expect(own(producer, "LRANGE", "wait", "0", "-1")).rejects.toThrow(REFUSED);
    await expect(own(producer, "ZADD", "active", "1", "5")).rejects.toThrow(REFUSED);
    await expect(own(producer, "HSET", "owners", "5", "1:t")).rejects.toThrow(REFUSED);
    await expect(own(producer, "HGETALL", "verdicts")).rejects.toThrow(REFUSED);
    expect(await dumpAll(server.url)).toEqual(before);
  });

  test("an admin changes no job and no line", async () => {
    const { as, own } = await opened();
    const admin = await as("admin");
    const before = await dumpAll(server.url);
    for (const [command, unit, ...args] of [
      ["HSET", "job:5", "data", "{}"],
      ["HDEL", "owners", "5"],
      ["ZADD", "active", "1", "5"],
      ["LPUSH", "wait", "6"],
      ["UNLINK", "job:5"],
    ] as const) {
      await expect(own(admin, command, unit, ...args)).rejects.toThrow(REFUSED);
    }
    expect(await dumpAll(server.url)).toEqual(before);
  });

  test("what roles cannot separate is as the page says", async () => {
    const { as, own, queue } = await opened();
    const producer = await as("producer");
    await own(producer, "HSET", "job:5", "data", `{"secret":2}`);
    expect((await queue.getJob("5"))?.data).toEqual({ secret: 2 });
    await own(producer, "HSET", "meta", "paused", "1");
    expect(await queue.isPaused()).toBe(true);
    const worker = await as("worker");
    expect(await own(worker, "LPUSH", "wait", "6")).toBe(2);
    expect(await own(producer, "UNLINK", "wait")).toBe(1);
  });

  test.each(["producer", "worker", "admin", "migrator"])(
    "a %s cannot touch another queue",
    async (role) => {
      const { q, as } = await opened();
      const driver = await as(role);
      const other = `${q}x`;
      const keys = [`emq:{${other}}:meta`, `emq:{${other}}:v2:job:5`, `{emq}:migration:${other}`];
      for (const key of [
        ...keys,
        `bull:${other}:meta`,
        `bull:${other}:5`,
        "{emq}:bundle",
        "leaders",
      ]) {
        for (const [command, ...args] of [["GET"], ["HGETALL"], ["HSET", "a", "b"], ["UNLINK"]]) {
          await expect(driver.command([command as string, key, ...args])).rejects.toThrow("NOPERM");
        }
        const lua = "return redis.call('UNLINK', KEYS[1])";
        await expect(driver.command(["EVAL", lua, "1", key])).rejects.toThrow("NOPERM");
        await expect(
          driver.command(["EVAL", lua.replace("KEYS[1]", "ARGV[1]"), "0", key]),
        ).rejects.toThrow(REFUSED);
      }
      const queue = new Queue(other, { connection: driver, retryTime: 0 });
      await expect(queue.add("x", {})).rejects.toMatchObject({ code: "NOPERM" });
      for (const command of [
        ["FLUSHALL"],
        ["KEYS", "*"],
        ["CONFIG", "GET", "*"],
        ["ACL", "LIST"],
        ["SUBSCRIBE", "x"],
      ]) {
        await expect(driver.command(command)).rejects.toThrow("NOPERM");
      }
    },
  );

  describe("a v1 user beside them", () => {
    /** The users of the page, for a real v1 client. */
    async function v1User(
      q: string,
    ): Promise<{ username: string; password: string; host: string; port: number }> {
      const lines = readFileSync(PAGE, "utf8").split("\n");
      for (const line of lines.filter((one) => one.startsWith("ACL SETUSER v1-app"))) {
        await paste(server.url, line.replace(">PASSWORD", ">secret").replaceAll("orders", q));
      }
      return { username: "v1-app", password: "secret", host: "127.0.0.1", port: server.port };
    }

    test("works on its own prefix and passes the guard", async () => {
      const q = uniqueQueue("v1");
      const connection = await v1User(q);
      const client = new Redis(connection);
      onTestFinished(() => client.disconnect());
      await guardV1Queue(client, { prefix: "bull", queue: q });
      const v1 = new V1Queue(q, { connection });
      const worker = new V1Worker(q, async () => "done", { connection, drainDelay: 1 });
      const ended = new Promise((resolve) => worker.on("completed", resolve));
      await v1.add("x", {});
      await ended;
      expect(await v1.getWorkersCount()).toBe(1);
      await worker.close();
      await v1.close();
      await client.quit();
    });

    test("cannot write a v2 key, nor reach one as a job id", async () => {
      const { q, key } = await opened();
      const connection = await v1User(q);
      const client = new Redis(connection);
      onTestFinished(() => client.disconnect());
      const before = await dumpAll(server.url, "*emq*");
      for (const one of [key("job:5"), key("meta"), `emq:{${q}}:meta`, "{emq}:version"]) {
        await expect(client.hset(one, "a", "b")).rejects.toThrow("NOPERM");
        await expect(client.unlink(one)).rejects.toThrow("NOPERM");
      }
      const open = { host: connection.host, port: connection.port };
      for (const [who, ends] of [
        [open, "reaches it"],
        [connection, "NOPERM"],
      ] as const) {
        const v1 = new V1Queue(`{${q}}`, { connection: who, prefix: "emq", skipMetasUpdate: true });
        v1.on("error", () => undefined);
        const found = await v1.getJob("v2:job:5").then(
          (job) => (job?.data.secret === 1 ? "reaches it" : "sees nothing"),
          (error: Error) => error.message,
        );
        expect(found).toContain(ends);
        if (who === connection) await expect(v1.add("x", {})).rejects.toThrow(REFUSED);
        await v1.close();
      }
      expect(await dumpAll(server.url, "*emq*")).toEqual(before);
    });

    test("a v2 user cannot write a v1 key", async () => {
      const { q, as } = await opened();
      const before = await dumpAll(server.url);
      for (const role of ["producer", "worker", "admin"]) {
        const driver = await as(role);
        for (const key of [`bull:${q}:meta`, `bull:{${q}}:id`, `bull:${q}:wait`, `bull:${q}:5`]) {
          for (const command of [
            ["HSET", key, "a", "b"],
            ["LPUSH", key, "1"],
            ["SET", key, "1"],
          ]) {
            await expect(driver.command(command)).rejects.toThrow("NOPERM");
          }
        }
      }
      expect(await dumpAll(server.url)).toEqual(before);
    });
  });
});
