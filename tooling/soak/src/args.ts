import { parseArgs } from "node:util";
import type { Engine } from "@echomq/testkit";

export type DriverName = "ioredis" | "node-redis";

/** What the command line asked for. */
export interface Args {
  readonly help: boolean;
  /** How many processes are killed with SIGKILL. */
  readonly kills: number;
  readonly minutes: number;
  readonly seed: number;
  /** Undefined takes turns. */
  readonly driver: DriverName | undefined;
  readonly engine: Engine;
  readonly workers: number;
  readonly producers: number;
  /** Adds of one producer in a second. */
  readonly rate: number;
  /** Folder in which the records stay; undefined removes them where nothing was found. */
  readonly keep: string | undefined;
}

export const HELP: string = `npm run soak -- [options]

Works on a queue of a server of its own while processes, connections, clocks and the server are hurt, and
proves at the end that no job was lost, doubled, half written or ended by a run without its lease.

  --kills <n>       processes killed with SIGKILL, default 200
  --minutes <x>     how long, default 20; some minutes more for what is left to be worked off
  --seed <n>        plays the plan of an earlier run again, which it prints first
  --driver <name>   ioredis or node-redis; default both, by turns
  --engine <name>   redis or valkey, default redis
  --workers <n>     worker processes, default 3
  --producers <n>   producer processes, default 2
  --rate <n>        adds of one producer in a second, default 40
  --keep <folder>   leaves the records there
  --help            this text
`;

/**
 * Reads the command line.
 * @throws Error with one sentence where it is wrong.
 */
export function readArgs(argv: readonly string[]): Args {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      help: { type: "boolean", short: "h", default: false },
      kills: { type: "string", default: "200" },
      minutes: { type: "string", default: "20" },
      seed: { type: "string" },
      driver: { type: "string" },
      engine: { type: "string", default: "redis" },
      workers: { type: "string", default: "3" },
      producers: { type: "string", default: "2" },
      rate: { type: "string", default: "40" },
      keep: { type: "string" },
    },
  });
  return {
    help: values.help,
    kills: number("--kills", values.kills, 0),
    minutes: number("--minutes", values.minutes, 0.05, false),
    seed: values.seed === undefined ? Date.now() % 2 ** 32 : number("--seed", values.seed, 0),
    driver: oneOf("--driver", values.driver, ["ioredis", "node-redis"]),
    engine: oneOf("--engine", values.engine, ["redis", "valkey"]) ?? "redis",
    workers: number("--workers", values.workers, 1),
    producers: number("--producers", values.producers, 1),
    rate: number("--rate", values.rate, 1),
    keep: values.keep,
  };
}

function number(option: string, text: string, least: number, whole = true): number {
  const value = Number(text);
  const fits = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (text.trim() !== "" && fits && value >= least) return value;
  throw new Error(`${option} cannot be ${text}`);
}

function oneOf<T extends string>(
  option: string,
  text: string | undefined,
  names: readonly T[],
): T | undefined {
  if (text === undefined || names.includes(text as T)) return text as T | undefined;
  throw new Error(`${option} must be ${names.join(" or ")}`);
}
