import { cli } from "../../src/cli.js";
import type { Report } from "../../src/runner.js";

/** What a run of the command wrote and how it ended. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in this process, as on a pipe unless `columns` are given. */
export async function conformance(
  argv: readonly string[],
  options: { env?: Record<string, string>; columns?: number; signal?: AbortSignal } = {},
): Promise<Ran> {
  let [out, err] = ["", ""];
  const { env = {}, columns, signal = new AbortController().signal } = options;
  const code = await cli({
    argv,
    env,
    out: {
      write: (text) => {
        out += text;
      },
      ...(columns === undefined ? {} : { isTTY: true, columns }),
    },
    err: {
      write: (text) => {
        err += text;
      },
    },
    signal,
  });
  return { code, out, err };
}

/** Ids of the rows that are not ok, each with its detail. */
export function notOk({ scenarios }: Pick<Report, "scenarios">, ok: false | null): string[] {
  return scenarios.filter((row) => row.ok === ok).map(({ id, detail }) => `${id}: ${detail}`);
}

export function idsOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.slice(0, line.indexOf(":")));
}
