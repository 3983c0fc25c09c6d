import { metricsScript } from "@echomq/scripts";
import type { LazySession } from "../../connection/lazy.js";
import { readable, refuse, shown } from "../../options/check.js";
import { getJobCounts } from "./counts.js";
import { checkRange, pagesOf } from "./states.js";

const MINUTE_MS = 60_000;
/** Most minutes of one page. */
const PAGE = 500;

/** Jobs ended per minute, as the workers counted them. */
export interface Metrics {
  readonly meta: {
    /** Jobs counted since counting began. */
    readonly count: number;
    /** Start of the last minute in which something was counted, in server ms; 0 for never. */
    readonly prevTS: number;
    /** What had been counted before that minute. */
    readonly prevCount: number;
  };
  /** One number per full minute, the newest first. */
  readonly data: number[];
  /** How many minutes there are in all. */
  readonly count: number;
}

/** Counts per minute of completed or failed jobs. The minute that runs is not among them. */
export async function getMetrics(
  lazy: LazySession,
  type: unknown,
  start: unknown,
  end: unknown,
): Promise<Metrics> {
  const op = "Queue.getMetrics";
  if (type !== "completed" && type !== "failed") {
    return refuse("type", `must be completed or failed, got ${shown(type)}`);
  }
  const range = checkRange(start, end);
  const session = await lazy.get(op);
  const newest = Math.floor((await session.clock.now()) / MINUTE_MS) - 1;
  const read = (at: number, count: number) => {
    const args = { kind: type, newest: Math.max(at, 0), count };
    return session.read(metricsScript, { q: session.q, args }, op);
  };
  const head = await read(newest, 0);
  if (!head || head.total === 0) {
    return { meta: { count: 0, prevTS: 0, prevCount: 0 }, data: [], count: 0 };
  }
  const low = Math.max(head.low, head.last - head.keep + 1);
  const points = Math.min(Math.max(newest - low + 1, 0), head.keep);
  const last = range.end === -1 ? points - 1 : Math.min(range.end, points - 1);
  const data: number[] = [];
  for (const page of last < 0 ? [] : pagesOf({ start: range.start, end: last }, PAGE)) {
    data.push(...((await read(newest - page.start, page.count))?.counts ?? []));
  }
  const prevCount = Math.max(head.total - head.lastCount, 0);
  return {
    meta: { count: head.total, prevTS: head.last * MINUTE_MS, prevCount },
    data,
    count: points,
  };
}

/** The counts of every state, and what was counted in all, in the text format of Prometheus. */
export async function exportPrometheusMetrics(lazy: LazySession, labels: unknown): Promise<string> {
  const op = "Queue.exportPrometheusMetrics";
  const more = checkLabels(labels);
  const counts = await getJobCounts(lazy, [], op);
  const session = await lazy.get(op);
  const label = (pairs: Readonly<Record<string, string>>): string =>
    Object.entries({ queue: session.q, ...pairs, ...more })
      .map(([name, value]) => `${name}="${escaped(value)}"`)
      .join(", ");
  const lines = [
    "# HELP echomq_job_count Jobs in the queue by state",
    "# TYPE echomq_job_count gauge",
  ];
  for (const [state, count] of Object.entries(counts)) {
    lines.push(`echomq_job_count{${label({ state })}} ${count}`);
  }
  for (const kind of ["completed", "failed"] as const) {
    const args = { kind, newest: 0, count: 0 };
    const reply = await session.read(metricsScript, { q: session.q, args }, op);
    if (!reply || reply.total === 0) continue;
    const name = `echomq_job_${kind}_total`;
    lines.push(`# HELP ${name} Jobs ${kind}, as counted by workers`, `# TYPE ${name} counter`);
    lines.push(`${name}{${label({})}} ${reply.total}`);
  }
  return `${lines.join("\n")}\n`;
}

function checkLabels(labels: unknown): Readonly<Record<string, string>> {
  if (labels === undefined) return {};
  if (typeof labels !== "object" || labels === null || Array.isArray(labels)) {
    return refuse("labels", `must be an object, got ${shown(labels)}`);
  }
  const given = readable("labels", () => Object.entries(labels) as [string, unknown][]);
  for (const [name, value] of given) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === "queue" || name === "state") {
      refuse(`labels.${name}`, "must be letters, digits and _, and neither queue nor state");
    }
    if (value !== undefined && typeof value !== "string") {
      refuse(`labels.${name}`, `must be text, got ${shown(value)}`);
    }
  }
  return Object.fromEntries(given.filter((one): one is [string, string] => one[1] !== undefined));
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
