import { exec } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Queue } from "@echomq/core";
import { createMigration } from "@echomq/migrate";
import { type GuardClient, guardV1Queue } from "@echomq/migrate/v1-guard";
import { V1_PREFIXES } from "@echomq/scripts";
import { startServer, type TestServer } from "@echomq/testkit";
import { type FenceError, stampKey } from "@echomq/wire";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES } from "../../src/lines.js";
import { V1Client } from "../../src/v1-client.js";
import { admin, thrownBy } from "../support/clients.js";

const CLI = fileURLToPath(new URL("../../../../packages/migrate/src/cli.ts", import.meta.url));
const TOOL = "npx -p @echomq/migrate -p ioredis echomq-migrate";

/** Names that a shell, or a careless program, would take apart. */
const Q = "night orders; it's $5";

describe("the command at the end of a message does what it says", () => {
  let server: TestServer;
  let redis: Redis;
  let v1: V1Client;

  beforeAll(async () => {
    server = await startServer();
    redis = admin(server.url);
    const [, , , line] = LINES;
    if (line === undefined) throw new Error("no line");
    v1 = await V1Client.start(line, server.port);
  });

  afterAll(async () => {
    await v1.stop();
    redis.disconnect();
    await server.stop();
  });

  /** Runs it in a shell as it stands, with this workspace's tool and server. */
  async function runCommandOf(error: FenceError): Promise<Record<string, unknown>> {
    const [, command = ""] = error.message.split(`: ${TOOL} `);
    expect(command).not.toBe("");
    const tool = `'${process.execPath}' --conditions=@echomq/source --import tsx '${CLI}'`;
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const env = { ...process.env, ECHOMQ_REDIS_URL: server.url };
    const output = await new Promise<string>((resolve, reject) => {
      exec(`${tool} ${command} --json`, { cwd, env }, (failed, stdout, stderr) => {
        if (failed) reject(new Error(`${command}: ${stderr}`));
        else resolve(stdout);
      });
    });
    return JSON.parse(output);
  }

  const producer = (q: string): Promise<FenceError> =>
    thrownBy(async () => {
      await using queue = new Queue(q, {
        connection: server.url,
        v1Prefixes: [...V1_PREFIXES, "acme"],
      });
      await queue.add("intruder", {});
    });

  const service = (queue: string, prefix: string): Promise<FenceError> =>
    thrownBy(() => guardV1Queue(redis as unknown as GuardClient, { queue, prefix }));

  test.each([
    { prefix: "bull", queue: Q },
    { prefix: "acme", queue: `{${Q} braced}` },
    { prefix: "emq", queue: `{${Q} in place}` },
  ])("V1_KEYSPACE at $prefix: plan finds the job", async ({ prefix, queue }) => {
    await v1.make("queue", { prefix, queue });
    const error = await producer(queue);
    expect(error.code).toBe("V1_KEYSPACE");
    expect(await runCommandOf(error)).toMatchObject({ phase: "plan", prefix, queue, jobs: 1 });
  });

  test("MIGRATION_IN_PROGRESS, MIGRATION_TOMBSTONE and V2_KEYSPACE: status tells", async () => {
    const q = `${Q} moving`;
    await v1.make("queue", { prefix: "bull", queue: q });
    const migration = await createMigration({ source: redis, queue: q });
    const { run } = await migration.fence();
    for (const error of [await producer(q), await service(q, "bull")]) {
      expect(error.code).toBe("MIGRATION_IN_PROGRESS");
      expect(await runCommandOf(error)).toMatchObject({ phase: "status", state: "moving", run });
    }
    await migration.runAll();
    await migration.close();
    const moved = await service(q, "bull");
    expect(moved.code).toBe("MIGRATION_TOMBSTONE");
    expect(await runCommandOf(moved)).toMatchObject({ phase: "status", state: "done", run });
    const other = await service(q, "acme");
    expect(other.code).toBe("V2_KEYSPACE");
    expect(await runCommandOf(other)).toMatchObject({ phase: "status", state: "done", run });
  });

  test("V1_INTRUSION: repair puts the stamp back, and the queue goes on", async () => {
    const q = `${Q} intruded`;
    await using queue = new Queue(q, { connection: server.url });
    await queue.add("first", {});
    for (const intrude of [
      async () => undefined,
      () => v1.make("queue", { prefix: "emq", queue: `{${q}}` }),
    ]) {
      await redis.del(stampKey(q));
      await intrude();
      const error = await producer(q);
      expect(error.code).toBe("V1_INTRUSION");
      expect(await runCommandOf(error)).toMatchObject({ phase: "repair", stampRestored: true });
      await queue.add("next", {});
    }
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 3 });
  });
});
