import { createMigration } from "@echomq/migrate";
import { startServer, type TestServer } from "@echomq/testkit";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES } from "../../src/lines.js";
import { STEADY, type Tried, tryVerbs } from "../../src/try-verbs.js";
import { V1Client } from "../../src/v1-client.js";
import { admin } from "../support/clients.js";
import { expectNothingOut, expectRefusals, SECRET } from "../support/expect-verbs.js";

const GUARDED = /^emq:\{orders\}:|^\{emq\}:|^bull:orders:(meta$|emq-vault:)/;

/** Fills a v1 queue as a program does: jobs in every state, and answers an id for each. */
const FILL = `
  const add = async (is, opts = {}) => (await c.queue.add(is, { is, text: ${JSON.stringify(SECRET)} }, opts)).id;
  const ids = { completed: await add("completed"), failed: await add("failed") };
  const worker = new c.M.Worker(c.name, async (job) => {
    if (job.name === "failed") throw new Error("as wanted");
  }, c.options);
  await new Promise((resolve) => worker.on("failed", resolve));
  await worker.close();
  ids.waiting = await add("waiting");
  ids.delayed = await add("delayed", { delay: 3600000 });
  // The tool refuses the layout of priorities that line 3 has.
  ids.prioritized = await add("prioritized", c.queue.getPrioritized ? { priority: 3 } : {});
  ids.active = await add("second");
  return ids;
`;

/** Calls that read a job's hash by its id, which stands until it is purged. */
const READERS = ["Queue.getJob", "Job.static fromId", "FlowProducer.getFlow"];
/** Calls that may still change or delete such a hash, or write a log beside it. */
const REACH =
  /^(Queue\.(remove|removeOrphanedJobs|addJobLog)|Job\.(remove|update|updateData|updateProgress|log|moveToFailed|static addJobLog)|Worker\.processJob)(:.*)?$/;
/** What v1 may leave beside the vault; nobody looks there any more. */
const LEFT = /^bull:orders:(id|repeat|repeat:\w+|events|limiter|stalled-check)$/;
/** It takes a unit of the vault for what a removed job left; docs/fence.md says so. */
const UNSTOPPED = ["Queue.removeOrphanedJobs: bull:orders:emq-vault:failed"];

const brokenBy = (tried: readonly Tried[]): string[] =>
  tried.flatMap(({ name, broke }) => broke.map((key) => `${name}: ${key}`));
const leftBy = (tried: readonly Tried[]): string[] =>
  tried.flatMap(({ name, left }) =>
    left.filter((key) => !LEFT.test(key)).map((key) => `${name}: ${key}`),
  );

describe.each(LINES)("stock $version on a queue of its own that was moved", (line) => {
  let server: TestServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await startServer({ args: STEADY });
    redis = admin(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  test("a client that was there before changes nothing of the moved queue", async () => {
    await using client = await V1Client.start(line, server.port);
    await client.open({ prefix: "bull", queue: "orders" });
    const ids = (await client.script(FILL)) as Record<string, string>;
    await client.open({ prefix: "bull", queue: "orders", ids, ready: true });
    const { calls } = await client.surface();
    const migration = await createMigration({ source: redis, queue: "orders" });
    const { jobs } = await migration.runAll({ allowConnected: true });
    expect(jobs).toBe(Object.keys(ids).length);

    const before = await tryVerbs(client, redis, calls, (key) => GUARDED.test(key));
    expect(brokenBy(before)).toEqual(line.version === "6.7.0" ? UNSTOPPED : []);
    expectRefusals(before);
    expectNothingOut(before, READERS);
    expect(leftBy(before.filter(({ name }) => !REACH.test(name)))).toEqual([]);

    await migration.purge();
    await migration.close();
    const after = await tryVerbs(client, redis, calls, (key) => GUARDED.test(key));
    expect(brokenBy(after)).toEqual([]);
    expectRefusals(after);
    expectNothingOut(after);
    // The oldest lines write a log for a job they know, whether it stands or not.
    expect(leftBy(after).filter((text) => !/: bull:orders:\d+:logs$/.test(text))).toEqual([]);
  });
});
