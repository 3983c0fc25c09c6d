import { Command, CommanderError, Option } from "commander";
import { DRIVERS, type DriverName } from "./connect/drivers.js";
import { Misused } from "./outcome.js";

/** The command line, checked. */
export interface CliOptions {
  /** Address of the server; undefined means one of the run's own. */
  readonly url: string | undefined;
  readonly driver: DriverName;
  readonly strict: boolean;
  readonly json: boolean;
  readonly queue: string | undefined;
  readonly keep: boolean;
  readonly color: boolean;
}

/**
 * Reads the command line.
 * @returns null when help was asked for, and is written.
 * @throws Misused with one sentence that says what is wrong.
 */
export function readOptions(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): CliOptions | null {
  let said = "";
  const program = new Command("conformance")
    .description("Proves on a real server that this build keeps the promises of the echomq:2 wire.")
    .option("--url <url>", "server to run on (default: $ECHOMQ_REDIS_URL, else a private server)")
    .addOption(new Option("--driver <name>", "client library").choices(DRIVERS).default("ioredis"))
    .option("--strict", "let the server refuse every undeclared key (needs ACL SETUSER)")
    .option("--json", "write the report as one JSON document")
    .option("--queue <name>", "base name of the queues it makes (default: a name of its own)")
    .option("--keep", "leave its keys on the server")
    .option("--no-color", "no colours")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeErr: (text) => {
        said = text;
      },
    })
    .addHelpText(
      "after",
      "\nExit: 0 nothing failed, 1 a scenario failed, 2 wrong usage, 3 the server cannot be reached.\n" +
        "A scenario whose right the server refuses is shown as refused and fails nothing.\n" +
        "\n`conformance acl --help`: server users with the rights of one role.",
    );
  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    throw new Misused(said.trim().replace(/^error: /, "") || error.message);
  }
  const given = program.opts<{
    url?: string;
    driver: DriverName;
    strict?: boolean;
    json?: boolean;
    queue?: string;
    keep?: boolean;
    color: boolean;
  }>();
  const url = given.url ?? (env.ECHOMQ_REDIS_URL || undefined);
  if (url !== undefined) checkUrl(url, given.url === undefined ? "ECHOMQ_REDIS_URL" : "--url");
  if (given.keep && url === undefined) {
    throw new Misused("--keep needs --url: a private server ends with the run");
  }
  return {
    url,
    driver: given.driver,
    strict: given.strict ?? false,
    json: given.json ?? false,
    queue: given.queue,
    keep: given.keep ?? false,
    color: given.color && !env.NO_COLOR,
  };
}

function checkUrl(text: string, where: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === "redis:" || url.protocol === "rediss:") && url.hostname) return;
  throw new Misused(`${where}: must be a redis:// or rediss:// address`);
}
