import { refusalOf } from "../connect/refusal.js";
import type { Context, Scenario } from "../context.js";
import { hold, Refused } from "../outcome.js";

const DELAY_MS = 200;
/** Ids that name structures elsewhere; here they are ordinary. */
const ODD_IDS = ["meta", "wait", "a:b:c", "__proto__", "007"];

async function completed(ctx: Context): Promise<string> {
  try {
    const count = await roundTrip(ctx);
    ctx.trip = "made";
    return `${count} jobs, minted and given ids, each result read back`;
  } catch (error) {
    const refused = error instanceof Refused || (!ctx.strictOn && refusalOf(error) !== null);
    if (refused) ctx.trip = "refused";
    throw error;
  }
}

async function roundTrip(ctx: Context): Promise<number> {
  const queue = ctx.queue("main");
  const ends = ctx.worker("main", (job) => ({ twice: Number((job.data as Numbered).n) * 2 }), {
    concurrency: 4,
  });
  const single = await queue.add("double", { n: 1, text: 'ünï \u2713 " \\ \n' });
  const bulk = await queue.addBulk([
    ...[2, 3, 4].map((n) => ({ name: "double", data: { n } })),
    ...ODD_IDS.map((jobId, at) => ({ name: "double", data: { n: at }, opts: { jobId } })),
    { name: "double", data: { n: 9 }, opts: { priority: 2 } },
  ]);
  const jobs = [single, ...bulk];
  const all = await ends.all(jobs.map(({ id }) => id));
  hold(
    all.every(({ how }) => how === "completed"),
    "a job failed that throws nothing",
  );
  for (const { id, data } of jobs) {
    const found = await queue.getJob(id);
    const expected = JSON.stringify({ twice: Number((data as Numbered).n) * 2 });
    const got = JSON.stringify(found?.returnvalue);
    hold(got === expected, `job ${id} returned ${expected}, read back ${got}`);
    hold(
      JSON.stringify(found?.data) === JSON.stringify(data),
      `the data of job ${id} came back changed`,
    );
  }
  const counts = await queue.getJobCounts();
  hold(
    counts.completed === jobs.length && counts.active === 0 && counts.waiting === 0,
    `after ${jobs.length} jobs the counts are ${JSON.stringify(counts)}`,
  );
  return jobs.length;
}

interface Numbered {
  readonly n: number;
}

async function failedRetry(ctx: Context): Promise<string> {
  const queue = ctx.queue("main");
  const runs = new Map<string, number>();
  const ends = ctx.worker("main", (job) => {
    const run = (runs.get(job.id) ?? 0) + 1;
    runs.set(job.id, run);
    if (job.name === "fails" || run === 1) throw new Error("on purpose");
    return "second try";
  });
  const retried = await queue.add("retried", {}, { attempts: 3, backoff: 20 });
  const fails = await queue.add("fails", {}, { attempts: 2, backoff: 10 });
  const [first, second] = await ends.all([retried.id, fails.id]);
  hold(first?.how === "completed", "a job that fails once of three attempts did not complete");
  hold(runs.get(retried.id) === 2, `it ran ${runs.get(retried.id)} times, not 2`);
  hold(second?.how === "failed", "a job that always fails did not end as failed");
  hold(runs.get(fails.id) === 2, `it ran ${runs.get(fails.id)} times, not its 2 attempts`);
  const found = await queue.getJob(fails.id);
  hold(found?.failedReason === "on purpose", `the reason read back is ${found?.failedReason}`);
  hold(found?.attemptsMade === 2, `attempts made read back: ${found?.attemptsMade}, not 2`);
  return "one failure then completed on the second attempt; two failures ended as failed with the reason";
}

async function delayed(ctx: Context): Promise<string> {
  const queue = ctx.queue("main");
  const ends = ctx.worker("main", () => "late");
  const job = await queue.add("delayed", {}, { delay: DELAY_MS });
  await ends.all([job.id]);
  const found = await queue.getJob(job.id);
  const waited = (found?.processedOn ?? 0) - job.timestamp;
  hold(waited >= DELAY_MS, `a delay of ${DELAY_MS} ms ran after ${waited} ms of server time`);
  return `a delay of ${DELAY_MS} ms ran after ${waited} ms of server time`;
}

async function order(ctx: Context): Promise<string> {
  const queue = ctx.queue("main");
  await queue.pause();
  const ran: string[] = [];
  const ends = ctx.worker("main", (job) => void ran.push(String((job.data as Place).place)));
  const jobs = await queue.addBulk([
    { name: "ordered", data: { place: "5" }, opts: { priority: 3 } },
    { name: "ordered", data: { place: "3" }, opts: { priority: 1 } },
    { name: "ordered", data: { place: "1" } },
    { name: "ordered", data: { place: "4" }, opts: { priority: 1 } },
    { name: "ordered", data: { place: "2" } },
  ]);
  const counts = await queue.getJobCounts();
  hold(counts.waiting === 2 && counts.prioritized === 3, "a paused queue does not keep its jobs");
  await queue.resume();
  await ends.all(jobs.map(({ id }) => id));
  hold(ran.join("") === "12345", `expected order 12345, ran ${ran.join("")}`);
  return "held while paused; then first in first out, then by priority";
}

interface Place {
  readonly place: string;
}

async function addTwice(ctx: Context): Promise<string> {
  const queue = ctx.queue("main");
  let runs = 0;
  const jobId = "conformance-twice";
  const first = await queue.add("twice", { first: true }, { jobId, delay: 50 });
  const second = await queue.add("twice", { first: false }, { jobId });
  const ends = ctx.worker("main", () => {
    runs += 1;
  });
  await ends.all([first.id]);
  hold(
    JSON.stringify(second.data) === JSON.stringify({ first: true }),
    "the second add of an id did not answer the job that stands",
  );
  const found = await queue.getJob(jobId);
  hold(JSON.stringify(found?.data) === JSON.stringify(first.data), "the second add replaced data");
  hold(runs === 1, `an id added twice ran ${runs} times`);
  return "the second add of an id answers the job that stands; it ran once";
}

/** What a program does with a queue, from add to the end of the job. */
export const roundtripScenarios: readonly Scenario[] = [
  {
    id: "roundtrip.completed",
    title: "Jobs are added, processed and read back",
    run: completed,
  },
  {
    id: "roundtrip.failed-retry",
    title: "A failing job is retried, and failed at its last attempt",
    run: failedRetry,
  },
  {
    id: "roundtrip.delayed",
    title: "A delayed job does not run before its time",
    run: delayed,
  },
  {
    id: "roundtrip.order",
    title: "A paused queue holds its jobs and resumes in order",
    run: order,
  },
  { id: "roundtrip.add-twice", title: "The same id added twice is one job", run: addTwice },
];
