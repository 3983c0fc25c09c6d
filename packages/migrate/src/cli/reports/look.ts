import { table, visible } from "@echomq/scripts/cli";
import type { DiscoveredQueue, DiscoverReport } from "../../phases/discover.js";
import type { PlanReport } from "../../phases/plan.js";
import { bytes, counted, span } from "../../words.js";
import { firstOf, type Paint } from "./parts.js";

/** Queues of a server in a table, and what of them cannot be carried. */
export function discovered({ queues, elsewhere }: DiscoverReport): string[] {
  if (queues.length === 0) {
    return [
      "  no v1 queue found at these prefixes; --prefixes names others",
      ...(elsewhere === null ? [] : [`  ${elsewhere}`]),
    ];
  }
  const head = ["prefix", "queue", "state", "version", "jobs", "active", "clients"];
  return [
    table([head, ...queues.map(row)]),
    ...queues.flatMap(({ prefix, queue, uncarried }) =>
      uncarried.map(
        ({ reason, unit, count }) =>
          `  ${visible(`${prefix}:${queue}`)}: ${reason}, ${counted(count, "member")} of ${unit} cannot be carried yet`,
      ),
    ),
  ];
}

function row(queue: DiscoveredQueue): (string | number)[] {
  // What is left of a queue that has moved are no jobs of v1.
  const jobs = Object.values(queue.counts).reduce((total, each) => total + each, 0);
  return [
    queue.prefix,
    queue.queue,
    queue.state,
    queue.version ?? "-",
    queue.state === "done" ? "-" : jobs,
    queue.active,
    queue.clients === null ? "?" : queue.clients.length,
  ];
}

/** Reasons beside which nothing of the plan means anything. */
const NO_PLAN: ReadonlySet<string> = new Set(["NOTHING", "TARGET_TAKEN", "OTHER_SOURCE"]);

/** What a move would do, and what stands in its way. */
export function planned(report: PlanReport, paint: Paint): string[] {
  const { blockers, states, memory } = report;
  const barred = blockers.map(({ reason, message, count, found }) => {
    const first = firstOf(found);
    const what = count > 1 ? ` (${count}${first === "" ? "" : `, first ${first}`})` : "";
    return paint(31, `  ${reason}: ${message}${what}`);
  });
  if (blockers.some(({ reason }) => NO_PLAN.has(reason))) return barred;
  const line = report.line === null ? "unknown line of v1" : `line ${report.line} of v1`;
  return [
    ...(states.length === 0
      ? ["  no jobs"]
      : [
          table([
            ["state", "members", "jobs"],
            ...states.map(({ state, members, jobs }) => [state, members, jobs]),
          ]),
        ]),
    `  ${line}, ${counted(report.jobs, "job")}, ${counted(report.dedups, "deduplication key")}, ` +
      `about ${bytes(memory.needed)} more memory, about ${span(report.estimatedSeconds * 1_000)}`,
    ...report.notes.map((note) => `  - ${visible(note)}`),
    ...listed("members without a job", report.dangling.count, report.dangling.first),
    ...listed("jobs in two states", report.twice.count, report.twice.first),
    ...(report.orphans > 0
      ? [`  ${counted(report.orphans, "hash stands", "hashes stand")} in no state`]
      : []),
    ...barred,
  ];
}

function listed(what: string, count: number, first: readonly unknown[]): string[] {
  return count === 0 ? [] : [`  ${what}: ${count}, first ${firstOf(first)}`];
}
