import { type LintOptions, lintScript } from "../../src/index.js";

/** Options of a script that carries no fence, so a case holds only what it is about. */
export function bare(options: Partial<LintOptions> = {}): LintOptions {
  return { name: "case", writes: false, fence: "migration", ...options };
}

/** Findings as `line rule`. */
export function found(source: string, options?: Partial<LintOptions>): string[] {
  return lintScript(source, bare(options)).map(({ line, rule }) => `${line} ${rule}`);
}

/** A case of a table: title, lines of the script, and what the registry says of it. */
export type Case = readonly [
  title: string,
  lines: readonly string[],
  options?: Partial<LintOptions> | undefined,
];

/** A case with the findings it must give, as `line rule`. */
export type BadCase = readonly [
  title: string,
  findings: readonly string[],
  lines: readonly string[],
  options?: Partial<LintOptions> | undefined,
];

export const UNPACK = "local unpack = unpack or table.unpack";
export const WRITES = { writes: true } as const;

export const FENCE = [
  "local stamp = KEYS[1]",
  "local found = redis.pcall('GET', stamp)",
  "if not (type(found) == 'string' and string.sub(found, 1, 9) == 'echomq:2.') then",
  "  return redis.error_reply('EMQFENCE ' .. tostring(found))",
  "end",
] as const;

/** A row of a table as vitest shows it. */
export interface Row {
  readonly title: string;
  readonly source: string;
  readonly findings: readonly string[];
  readonly options: Partial<LintOptions> | undefined;
}

export function badRows(cases: readonly BadCase[]): Row[] {
  return cases.map(([title, findings, lines, options]) => ({
    title,
    findings,
    source: lines.join("\n"),
    options,
  }));
}

export function goodRows(cases: readonly Case[]): Row[] {
  return badRows(cases.map(([title, lines, options]) => [title, [], lines, options] as const));
}
