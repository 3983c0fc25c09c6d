import { defaultAddress, type Host } from "@echomq/scripts/cli";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandLine } from "../command-line.js";
import type { DriverName } from "./connect.js";
import { makeOutput, type Output } from "./output.js";

/** Options every command takes. */
export interface Common {
  readonly url?: string;
  readonly driver?: DriverName;
  readonly queue?: string;
  readonly prefix?: string;
  readonly json?: boolean;
  readonly color: boolean;
}

/** Options of any command, as they were given. */
export interface Given extends Common {
  readonly as?: string;
  readonly run?: string;
  readonly batch?: number;
  readonly prefixes?: string;
  readonly deadline?: number;
  readonly allowConnected?: boolean;
  readonly purgeV1?: boolean;
  readonly overwrite?: boolean;
  readonly yes?: boolean;
}

/** What stands below the list of commands. */
export const HELP = `
Each command is told the queue by --queue, as v1 spells it; echomq-migrate <command> --help lists the rest.
ECHOMQ_REDIS_URL is the address where --url is not given; a password is best told that way.

Exit status:
  0    done
  1    refused: the reason and the next command are said
  2    used wrongly
  3    trouble with the server or the connection
  4    the verification found differences
  130  stopped by Ctrl-C (143 by SIGTERM); the same command goes on

Begin with:
  echomq-migrate discover
  echomq-migrate runbook
`;

/** Adds what says how to reach the server and how to write. */
export function connectionOptions(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "address of the server (default: ECHOMQ_REDIS_URL, else redis://127.0.0.1:6379)",
    )
    .addOption(
      new Option(
        "--driver <name>",
        "client to connect with (default: the first installed)",
      ).choices(["ioredis", "node-redis"]),
    )
    .option("--json", "one JSON document per phase on standard output")
    .option("--no-color", "no colours");
}

/** Adds what says which queue is meant. */
export function queueOptions(command: Command): Command {
  return command
    .option("--queue <name>", "the v1 queue as v1 spells it, braces included")
    .option("--prefix <prefix>", "prefix of the v1 keys", "bull")
    .option("--as <name>", "name on the v2 wire, where v2 refuses v1's")
    .option("--run <id>", "id of the run to begin, or the only one to go on with")
    .option("--batch <n>", "jobs per call, 1 to 250 (default: 200)", wholeNumber);
}

export function deadlineOption(): Option {
  return new Option(
    "--deadline <seconds>",
    "how long to wait for active jobs (default: 60)",
  ).argParser(wholeNumber);
}

export function allowOption(): Option {
  return new Option("--allow-connected", "go on although v1 workers are connected");
}

export function purgeOption(): Option {
  return new Option("--purge-v1", "remove the vault and the v1 job keys; there is no way back");
}

export function deadline({ deadline: seconds }: Given): { deadlineMs?: number } {
  return seconds === undefined ? {} : { deadlineMs: seconds * 1_000 };
}

/** Address of the server, and the name of what gave it. */
export function addressOf(
  { env }: Host,
  { url }: Pick<Common, "url">,
): { readonly url: string; readonly from: string } {
  if (url !== undefined) return { url, from: "--url" };
  return { url: defaultAddress(env), from: "ECHOMQ_REDIS_URL" };
}

/** An address that the next command finds by itself is not repeated. */
export function lineOf(host: Host, { url, driver }: Common): CommandLine {
  return {
    ...(driver === undefined ? {} : { driver }),
    ...(url === undefined || url === defaultAddress(host.env) ? {} : { url }),
  };
}

export function outputFor(host: Host, options: Pick<Common, "url" | "json" | "color">): Output {
  const { stdout, stderr } = host;
  const color = options.color && stdout.isTTY === true && !host.env.NO_COLOR;
  const { url } = addressOf(host, options);
  return makeOutput({ json: options.json === true, color, stdout, stderr, url });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}
