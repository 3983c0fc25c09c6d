// region
import { Queue, Worker } from "../../src/index.js";
// end

/** The code of docs/looking.md; resolves to what it saw. */
export async function lookingExample(connection: string): Promise<Record<string, unknown>> {
  await using queue = new Queue("mails", { connection });
  await queue.add("welcome", { to: "a" });
  await queue.add("urgent", { to: "b" }, { priority: 1 });

  // region
  const next = await queue.getWaiting(0, 9);
  const failed = await queue.getFailed(0, 99);
  const some = await queue.getJobs(["completed", "failed"], 0, 49);
  const state = await queue.getJobState(next[0]?.id ?? "none");
  // end

  // region
  const counts = await queue.getJobCounts();
  const open = await queue.getJobCountByTypes("waiting", "prioritized", "delayed");
  const urgent = await queue.getCountsPerPriority([1, 2, 3]);
  // end

  // region
  const { logs, count } = await queue.getJobLogs(next[0]?.id ?? "none", 0, 99);
  // end

  // region
  await using counted = new Worker("mails", async (job) => job.data, {
    connection,
    name: "mailer-1",
    metrics: { maxDataPoints: 60 * 24 * 14 },
  });
  // end
  await counted.waitUntilReady();

  // region
  const { data, meta } = await queue.getMetrics("completed", 0, 59);
  const text = await queue.exportPrometheusMetrics({ region: "eu" });
  // end

  // region
  const workers = await queue.getWorkers();
  // end

  // region
  const report = await queue.doctor();
  const mended = report.ok ? report : await queue.doctor({ fix: true, limit: 100 });
  // end
  return {
    next: next.length,
    failed: failed.length,
    some: some.length,
    state,
    counts,
    open,
    urgent,
    logs,
    count,
    data: data.length,
    meta,
    text,
    workers: workers.length,
    mended,
  };
}
