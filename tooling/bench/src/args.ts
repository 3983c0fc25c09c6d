import { parseArgs } from "node:util";
import { CASES } from "./cases.js";

/** What the command line asked for. */
export interface Args {
  readonly quick: boolean;
  readonly help: boolean;
  readonly scale: number;
  readonly only?: readonly string[];
  readonly json?: string;
  readonly rounds?: number;
}

export const HELP: string = `npm run bench -- [options]

Measures EchoMQ against bullmq@6.7.0 on a Redis server of its own, and prints a Markdown table.

  --quick           3 rounds of fewer jobs instead of 9, under two minutes
  --only <id,...>   only these cases
  --rounds <n>      another number of rounds
  --json <file>     also writes the results as JSON
  --scale <x>       multiplies the number of jobs, to try the tool; never below 100 jobs
  --help            this text

Cases: ${CASES.map(({ id }) => id).join(" ")}
`;

/**
 * Reads the command line.
 * @throws Error with one sentence where it is wrong.
 */
export function readArgs(argv: readonly string[]): Args {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      only: { type: "string", multiple: true },
      json: { type: "string" },
      rounds: { type: "string" },
      scale: { type: "string", default: "1" },
    },
  });
  const { quick, help, json } = values;
  const scale = number("--scale", values.scale, (x) => x > 0);
  const only = values.only?.flatMap((list) => list.split(",")).map((id) => id.trim());
  for (const id of only ?? []) {
    if (!CASES.some((one) => one.id === id)) throw new Error(`there is no case ${id}`);
  }
  return {
    quick,
    help,
    scale,
    ...(only === undefined ? {} : { only }),
    ...(json === undefined ? {} : { json }),
    ...(values.rounds === undefined
      ? {}
      : { rounds: number("--rounds", values.rounds, (x) => Number.isInteger(x) && x > 0) }),
  };
}

function number(option: string, text: string, fits: (value: number) => boolean): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && fits(value)) return value;
  throw new Error(`${option} cannot be ${text}`);
}
