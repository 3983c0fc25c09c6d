import type { Row } from "../outcome.js";
import type { Report } from "../runner.js";
import { painter } from "./paint.js";
import { wrapText } from "./wrap.js";

/** How the report may look. */
export interface Look {
  readonly color: boolean;
  /** Width of the terminal; undefined where there is none, then no line is broken. */
  readonly columns: number | undefined;
}

const STATUS = { true: "ok", false: "FAILED", null: "refused" } as const;
const NARROWEST = 30;

/** The report for people: a table, the engine, the driver and a summary line. */
export function tableReport(report: Report, { color, columns }: Look): string {
  const paint = painter(color);
  const { scenarios, engine, driver } = report;
  const ids = width(
    "scenario",
    scenarios.map(({ id }) => id),
  );
  const titles = width(
    "title",
    scenarios.map(({ title }) => title),
  );
  const before = ids + titles + STATUS.null.length + 6;
  const room = columns === undefined ? Number.POSITIVE_INFINITY : columns - before;
  const line = (id: string, title: string, status: string, detail: string): string =>
    `${id}  ${title}  ${status}  ${detail}`.trimEnd();
  const out = [
    paint.bold(
      line(
        "scenario".padEnd(ids),
        "title".padEnd(titles),
        "result".padEnd(STATUS.null.length),
        "detail",
      ),
    ),
  ];
  for (const row of scenarios) {
    // Too narrow for a fourth column: what was seen goes below its row.
    const below = room < NARROWEST;
    const [first = "", ...rest] = below ? ["", row.detail] : wrapText(row.detail, room);
    const status = paint.of(row.ok)(statusOf(row).padEnd(STATUS.null.length));
    out.push(line(row.id.padEnd(ids), row.title.padEnd(titles), status, first));
    const indent = below ? 4 : before;
    const lines = below ? wrapText(row.detail, (columns ?? 80) - indent) : rest;
    for (const text of lines) out.push(" ".repeat(indent) + text);
  }
  const redis = engine.redisVersion === engine.version ? "" : ` (Redis ${engine.redisVersion})`;
  out.push(
    "",
    `engine   ${engine.name} ${engine.version}${redis}, ${engine.mode}`,
    `driver   ${driver}`,
    summary(scenarios),
  );
  return `${out.join("\n")}\n`;
}

/** One line that says how it went. */
function summary(rows: readonly Row[]): string {
  const count = (ok: Row["ok"]): number => rows.filter((row) => row.ok === ok).length;
  return `conformance: ${rows.length} scenarios, ${count(true)} ok, ${count(false)} failed, ${count(null)} refused`;
}

function statusOf({ ok }: Row): string {
  return STATUS[String(ok) as keyof typeof STATUS];
}

function width(head: string, texts: readonly string[]): number {
  return Math.max(head.length, ...texts.map((text) => text.length));
}
