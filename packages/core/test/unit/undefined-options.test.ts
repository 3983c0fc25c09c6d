import { expect, test } from "vitest";
import { checkConnection, urlOf } from "../../src/connection/address.js";
import { checkBackoff } from "../../src/options/backoff.js";
import { checkDeduplication } from "../../src/options/deduplication.js";
import { checkDefaultJobOptions, checkJobOptions } from "../../src/options/job-options.js";
import { checkRetention } from "../../src/options/retention.js";
import { checkQueueOptions } from "../../src/queue/options.js";
import { checkNextJob } from "../../src/worker/next-job.js";
import { checkWorkerOptions } from "../../src/worker/options.js";

const connection = "redis://localhost";

/** An object in which each name is given as undefined. */
function none(names: string): Record<string, undefined> {
  return Object.fromEntries(names.split(" ").map((name) => [name, undefined]));
}

const SHARED = "v1Prefixes commandTimeout retryTime";
const JOB =
  "delay runAt priority attempts backoff timeout ttl deduplication deadLetter keepLogs lifo " +
  "removeOnComplete removeOnFail";

test.each<[string, unknown, unknown]>([
  [
    "a queue",
    checkQueueOptions({
      connection,
      ...none(`${SHARED} defaultJobOptions maxDataSize schemas serializer telemetry`),
    }),
    checkQueueOptions({ connection }),
  ],
  [
    "a worker",
    checkWorkerOptions({
      connection,
      ...none(
        `${SHARED} concurrency lockDuration stalledInterval maxStalledCount jobTimeout limiter ` +
          "resourceLimits settings autorun removeOnComplete removeOnFail claimAhead busyWait serializer " +
          "maxDataSize deadLetter name metrics telemetry",
      ),
    }),
    checkWorkerOptions({ connection }),
  ],
  ["a job", checkJobOptions(none(`jobId ${JOB}`)), checkJobOptions(undefined)],
  [
    "a job, over the queue's defaults",
    checkJobOptions(none(JOB), checkDefaultJobOptions({ ...none(JOB), priority: 3, delay: 5 })),
    checkJobOptions({ priority: 3, delay: 5 }),
  ],
  ["a retention", checkRetention("o", { count: 1, age: undefined }), { count: 1 }],
  [
    "a backoff",
    checkBackoff("o", { type: "fixed", delay: 1, jitter: undefined }),
    { type: "fixed", delay: 1 },
  ],
  [
    "a deduplication",
    checkDeduplication("o", { id: "x", ...none("ttl extend replace keepLastIfActive") }),
    checkDeduplication("o", { id: "x" }),
  ],
  [
    "threads",
    checkWorkerOptions({
      connection,
      resourceLimits: { stackSizeMb: 4, maxOldGenerationSizeMb: undefined },
    }).resourceLimits,
    { stackSizeMb: 4 },
  ],
  [
    "fetching by hand",
    checkNextJob(undefined, none("block timeout renew")),
    checkNextJob(undefined, {}),
  ],
])("an option of %s that is undefined is not given", (_what, given, expected) => {
  expect(given).toStrictEqual(expected);
});

test("a part of an address that is undefined is not given", () => {
  const address = { host: "x", ...none("port username password db tls") };
  expect(() => checkConnection(address)).not.toThrow();
  expect(urlOf(address)).toBe(urlOf({ host: "x" }));
});
