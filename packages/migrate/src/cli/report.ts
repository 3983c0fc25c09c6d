import type { DiscoverReport } from "../phases/discover.js";
import type { PlanReport } from "../phases/plan.js";
import type { StatusReport } from "../phases/status.js";
import { counted } from "../words.js";

type Paint = (code: number, text: string) => string;
type Report = { readonly phase: string };

/** A report in words and tables. */
export function describeReport(report: Report, paint: Paint): string {
  const head = paint(1, report.phase);
  switch (report.phase) {
    case "discover":
      return `${head}\n${discovered(report as DiscoverReport)}`;
    case "plan":
      return `${head}\n${planned(report as PlanReport, paint)}`;
    case "status":
      return `${head}\n${stands(report as StatusReport)}`;
    default:
      return `${head}\n${facts(report)}`;
  }
}

function discovered({ queues, next }: DiscoverReport): string {
  if (queues.length === 0) return "  no v1 queue found";
  const rows = queues.map((queue) => [
    queue.prefix,
    queue.queue,
    queue.state,
    queue.version ?? "-",
    String(Object.values(queue.counts).reduce((total, each) => total + each, 0)),
    String(queue.active),
    queue.clients === null ? "?" : String(queue.clients.length),
  ]);
  const left = queues.flatMap(({ prefix, queue, uncarried }) =>
    uncarried.map(
      ({ reason, unit, count }) =>
        `  ${prefix}:${queue}: ${reason}, ${counted(count, "member")} of ${unit} cannot be carried yet`,
    ),
  );
  return [
    table([["prefix", "queue", "state", "version", "jobs", "active", "clients"], ...rows]),
    ...left,
    ...(next === null ? [] : [`  next: ${next}`]),
  ].join("\n");
}

function planned(report: PlanReport, paint: Paint): string {
  const states = report.states.map(({ state, members, jobs }) => [
    state,
    String(members),
    String(jobs),
  ]);
  return [
    table([["state", "members", "jobs"], ...states]),
    `  line ${report.line ?? "unknown"}, ${counted(report.jobs, "job")}, ${counted(report.dedups, "deduplication key")}, ` +
      `about ${counted(report.memory.needed, "byte")}, ` +
      `about ${report.estimatedSeconds} s`,
    ...report.notes.map((note) => `  - ${note}`),
    ...found("dangling", report.dangling.count, report.dangling.first),
    ...found("in two states", report.twice.count, report.twice.first),
    ...(report.orphans > 0
      ? [`  ${counted(report.orphans, "hash stands", "hashes stand")} in no state`]
      : []),
    ...report.blockers.map(({ reason, message, count, found: first }) =>
      paint(31, `  ${reason}: ${message} (${count}) ${JSON.stringify(first.slice(0, 3))}`),
    ),
    `  next: ${report.next}`,
  ].join("\n");
}

function stands(report: StatusReport): string {
  const rows = Object.entries(report.counts).map(([state, { v1, v2 }]) => [
    state,
    String(v1),
    String(v2),
  ]);
  return [
    `  ${report.prefix}:${report.queue} -> emq:{${report.q}}: ${report.state}` +
      `${report.at === null ? "" : `, ${report.at}`}${report.run === null ? "" : `, run ${report.run}`}`,
    ...(report.followed
      ? ["  the run was started for that queue and prefix, not for those given"]
      : []),
    table([["state", "v1", "v2"], ...rows]),
    ...(report.opened === null
      ? []
      : [`  opened by v2 at ${new Date(Number(report.opened)).toISOString()}`]),
    ...found("written by v1 clients after the fence", report.intruders.length, report.intruders),
    `  next: ${report.next}`,
  ].join("\n");
}

function found(what: string, count: number, first: readonly unknown[]): string[] {
  return count === 0 ? [] : [`  ${what}: ${count} ${JSON.stringify(first.slice(0, 5))}`];
}

/** Any other report: its plain fields, one a line. */
function facts(report: Report): string {
  return Object.entries(report)
    .filter(([name]) => name !== "phase" && name !== "reports")
    .map(
      ([name, value]) => `  ${name}: ${typeof value === "object" ? short(value) : String(value)}`,
    )
    .join("\n");
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  return rows
    .map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}
