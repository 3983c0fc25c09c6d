import { addressWord, shellWord, table, visible } from "@echomq/scripts/cli";
import { printable } from "@echomq/wire";
import { type DoctorReport, type Finding, TOLD_ONLY } from "../doctor/report.js";

/** Ids or keys of one kind that are shown. */
const SHOWN = 3;
/** Characters shown of one; programs are told it whole. */
const WIDE = 48;

/** A report of the doctor in words; `again` is the command that mends. */
export function describeDoctor(report: DoctorReport, fix: boolean, again: string): string[] {
  const { findings, looked, truncated } = report;
  const name = visible(report.queue);
  const seen = `${looked} looked at`;
  if (findings.length === 0) return [`${name}: clean, ${seen}`];
  const open = findings.filter(({ fixed }) => !fixed);
  const kinds = new Map<string, Finding[]>();
  for (const one of findings) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), one]);
  const rows = [...kinds].map(([kind, list]) => [
    kind,
    list.length,
    ...(fix ? [list.filter(({ fixed }) => fixed).length] : []),
    firstOf(list),
    list[0]?.detail ?? "",
  ]);
  const mendable = open.some(({ kind }) => !TOLD_ONLY.has(kind));
  return [
    `${name}: ${findings.length} ${findings.length === 1 ? "finding" : "findings"}` +
      `${fix ? `, ${findings.length - open.length} mended` : ""}, ${seen}`,
    table([["kind", "count", ...(fix ? ["mended"] : []), "first", "meaning"], ...rows]),
    ...(truncated
      ? ["  there is more: the same command goes on, --limit asks for more at once"]
      : []),
    ...(open.length > 0 && !mendable ? ["  what is left needs a choice: docs/looking.md"] : []),
    ...(!fix && mendable ? [`  next: ${again}`] : []),
  ];
}

function firstOf(list: readonly Finding[]): string {
  const names = list.slice(0, SHOWN).map(({ id, key }) => printable(id ?? key ?? "", WIDE));
  return names.join(" ") + (list.length > SHOWN ? " …" : "");
}

/** The command that mends a queue, as it can be run. A password has no place in it. */
export function mendCommand(queue: string, url: string | undefined): string {
  const at = url === undefined ? "" : ` --url ${addressWord(url)}`;
  return `npx -p @echomq/core -p ioredis echomq doctor ${shellWord(queue)} --fix${at}`;
}
