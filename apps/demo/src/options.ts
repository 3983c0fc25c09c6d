import { Command, CommanderError, InvalidArgumentError, Option } from "commander";

/** Clients the v2 side can speak through. */
const DRIVERS = ["ioredis", "node-redis"] as const;
export type DriverName = (typeof DRIVERS)[number];

/** What the demo was asked for. */
export interface DemoOptions {
  /** How many jobs, 1 to 20 000. */
  readonly jobs: number;
  readonly driver: DriverName;
  /** A server to use instead of a private one. */
  readonly url: string | undefined;
  readonly color: boolean;
}

/** Options to go on with, or the exit status of a call that ends here. */
export type ReadOptions = { readonly options: DemoOptions } | { readonly exit: number };

const JOBS_MAX = 20_000;
const USED_WRONGLY = 2;

const ABOUT =
  "Fills a real v1 queue with real work, lets v1 do a part of it, moves the queue to the EchoMQ 2 " +
  "wire, and works off the rest there. Every result is checked against a direct computation.";

const AFTER = `
Without --url a private redis-server is started and ended. With --url the demo uses the queue
"echomq-demo" there, refuses to start if it exists, and removes its own keys at the end.

Exit status: 0 all results right, 1 something lost, wrong or broken, 2 used wrongly.`;

/** Reads the command line. Help and complaints are printed here. */
export function readOptions(args: readonly string[]): ReadOptions {
  const program = new Command("demo")
    .description(ABOUT)
    .option("--jobs <n>", `how many jobs, 1 to ${JOBS_MAX}`, jobCount, 2_000)
    .addOption(
      new Option("--driver <name>", "client of the v2 side").choices(DRIVERS).default("ioredis"),
    )
    .option("--url <url>", "a Redis or Valkey server to use (or ECHOMQ_REDIS_URL)", serverUrl)
    .option("--no-color", "plain text (NO_COLOR=1 does the same)")
    .addHelpText("after", AFTER)
    .allowExcessArguments(false)
    .exitOverride();
  try {
    const url = process.env.ECHOMQ_REDIS_URL ?? "";
    program.parse(url === "" ? [...args] : ["--url", url, ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { exit: error.exitCode === 0 ? 0 : USED_WRONGLY };
  }
  const { jobs, driver, url, color } = program.opts<DemoOptions>();
  return { options: { jobs, driver, url, color } };
}

function jobCount(text: string): number {
  const count = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > JOBS_MAX) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${JOBS_MAX}.`);
  }
  return count;
}

function serverUrl(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol !== "redis:" && protocol !== "rediss:") {
    throw new InvalidArgumentError("It must start with redis:// or rediss://.");
  }
  return text;
}
