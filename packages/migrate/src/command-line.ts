import { addressWord, shellWord } from "@echomq/scripts/cli";
import { isEchoMQError, queueName } from "@echomq/wire";

/** How the tool was started, so that the commands it names can be run as they stand. */
export interface CommandLine {
  /** Address given with `--url`. One that holds a password is named by its variable instead. */
  readonly url?: string | undefined;
  /** Client given with `--driver`. */
  readonly driver?: "ioredis" | "node-redis" | undefined;
}

/** A v1 queue as v1 spells it. */
export interface Place {
  readonly queue: string;
  readonly prefix: string;
}

/** The part of a context that a command line is made of. */
export interface CommandSource extends Place {
  /** Bare name on the v2 wire. */
  readonly q: string;
  readonly commandLine: CommandLine;
}

/**
 * The command line that runs `command` for a queue, in a POSIX shell, as it stands. Commands of a
 * `FenceError` have the same form.
 */
export function commandFor(source: CommandSource, command: string): string {
  const { queue, prefix, q } = source;
  const at = prefix === "bull" ? "" : ` --prefix ${shellWord(prefix)}`;
  const as = isNamed(queue, q) ? "" : ` --as ${shellWord(q)}`;
  return `${commandOf(source.commandLine, command)} --queue ${shellWord(queue)}${at}${as}${endOf(source.commandLine)}`;
}

/** The command line of a command that takes no queue. */
export function commandWithoutQueue(line: CommandLine, command: string): string {
  return `${commandOf(line, command)}${endOf(line)}`;
}

function commandOf({ driver }: CommandLine, command: string): string {
  const peer = driver === "node-redis" ? "redis" : "ioredis";
  // A bare `npx echomq-migrate` would fetch whatever package has that name.
  return `npx -p @echomq/migrate -p ${peer} echomq-migrate ${command}`;
}

function endOf({ url, driver }: CommandLine): string {
  const by = driver === undefined ? "" : ` --driver ${driver}`;
  return url === undefined ? by : `${by} --url ${addressWord(url)}`;
}

function isNamed(queue: string, q: string): boolean {
  try {
    return queueName(queue) === q;
  } catch (error) {
    if (isEchoMQError(error, "VALIDATION")) return false;
    throw error;
  }
}

/** A name that v2 takes, made of one that it refuses; `queue` when nothing is left. */
export function nameLike(queue: string): string {
  const bare = queue.replaceAll(/[^\p{L}\p{N} ._-]+/gu, "-").replaceAll(/^[ -]+|[ -]+$/g, "");
  const short = Array.from(bare).slice(0, 32).join("").trim();
  try {
    return queueName(short);
  } catch {
    return "queue";
  }
}
