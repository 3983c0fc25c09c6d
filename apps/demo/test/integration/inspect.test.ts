import { fileURLToPath } from "node:url";
import { Queue, Worker } from "@echomq/core";
import { sharedServer, uniqueQueue } from "@echomq/testkit";
import { expect, test } from "vitest";
import { inspect } from "../../src/check/inspect.js";
import { endingOf } from "../../src/check/tally.js";
import { type DemoJobs, v2Client } from "../../src/work/connect.js";
import { type FileFacts, measure } from "../../src/work/measure.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FAR_MS = 3_600_000;

/** What a worker makes of the facts before it gives them back. */
type Twist = (facts: FileFacts) => FileFacts;

async function worked(twist: Twist, delay: number) {
  const { url } = await sharedServer("redis");
  const name = uniqueQueue("demo");
  const queue = new Queue<DemoJobs>(name, { connection: v2Client("ioredis", url) });
  const added = await queue.addBulk([
    { name: "measure", data: { path: "package.json" } },
    { name: "measure", data: { path: "src/main.ts" }, opts: { delay } },
    { name: "measure", data: { path: "src/main.ts.gone" } },
  ]);
  const jobs = added.map(({ id, data }) => {
    const end = data.path.endsWith(".gone") ? ("failure" as const) : ("facts" as const);
    return { id, task: data, expect: end };
  });
  const worker = new Worker<DemoJobs>(name, async (job) => twist(await measure(ROOT, job.data)), {
    connection: v2Client("ioredis", url),
  });
  const expected = delay === 0 ? 3 : 2;
  await expect
    .poll(async () => {
      const { completed, failed } = await queue.getJobCounts();
      return completed + failed;
    })
    .toBe(expected);
  await worker.close();
  return { queue, jobs };
}

const COUNTS = { jobs: 3, migrated: 3, onV2: 3 };

test("honest work is right and ends with 0", async () => {
  const { queue, jobs } = await worked((facts) => facts, 0);
  const found = await inspect({ queue, jobs, root: ROOT });
  await queue.close();
  expect(found).toEqual({ right: 2, failedAsExpected: 1, lost: [], wrong: [], extra: 0 });
  expect(endingOf(COUNTS, found).exit).toBe(0);
});

test("a wrong result, a job that never ran, one that is gone and one too many end with 1", async () => {
  const { queue, jobs } = await worked((facts) => ({ ...facts, lines: facts.lines + 1 }), FAR_MS);
  const gone = { id: "1", task: { path: "package.json" }, expect: "facts" } as const;
  const found = await inspect({ queue, jobs: [...jobs, gone], root: ROOT });
  const tooMany = await inspect({ queue, jobs: jobs.slice(2), root: ROOT });
  await queue.close();
  expect(found.wrong.map(({ job }) => job)).toEqual([`${jobs[0]?.id} (package.json)`]);
  expect(found.lost.map(({ why }) => why)).toEqual([
    "never finished, it is delayed",
    "no such job is left",
  ]);
  expect(endingOf(COUNTS, found)).toEqual({
    line: "demo: 3 jobs, 3 migrated, 3 processed on v2, 2 lost, 1 wrong",
    exit: 1,
  });
  expect(tooMany.extra).toBe(2);
  expect(endingOf(COUNTS, tooMany).exit).toBe(1);
});
