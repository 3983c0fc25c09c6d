import type { Arg, Command } from "../driver/types.js";

const KEYLESS: ReadonlySet<string> = new Set([
  ...["ACL", "ASKING", "AUTH", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "DEBUG"],
  ...["DISCARD", "ECHO", "EXEC", "FLUSHALL", "FLUSHDB", "FUNCTION", "HELLO", "INFO", "KEYS"],
  ...["LASTSAVE", "LATENCY", "MULTI", "PING", "PUBLISH", "RANDOMKEY", "READONLY", "READWRITE"],
  ...["RESET", "ROLE", "SCAN", "SCRIPT", "SELECT", "SLOWLOG", "TIME", "UNWATCH", "WAIT"],
]);
const SUBCOMMAND: ReadonlySet<string> = new Set(["BITOP", "MEMORY", "OBJECT", "XGROUP", "XINFO"]);
const COUNT_FIRST: ReadonlySet<string> = new Set([
  ...["LMPOP", "SINTERCARD", "ZDIFF", "ZINTER", "ZINTERCARD", "ZMPOP", "ZUNION"],
]);
const COUNT_SECOND: ReadonlySet<string> = new Set([
  ...["BLMPOP", "BZMPOP", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "FCALL", "FCALL_RO"],
]);
const STREAMS: ReadonlySet<string> = new Set(["XREAD", "XREADGROUP"]);

/** The key that places a command on a cluster, or undefined when it has none. */
export function firstKey(args: Command): Arg | undefined {
  const name = String(args[0]).toUpperCase();
  if (COUNT_SECOND.has(name)) return Number(text(args[2])) > 0 ? args[3] : undefined;
  if (KEYLESS.has(name)) return undefined;
  if (SUBCOMMAND.has(name)) return args[2];
  if (COUNT_FIRST.has(name)) return args[2];
  if (STREAMS.has(name)) {
    const at = args.findIndex((arg, i) => i > 0 && text(arg).toUpperCase() === "STREAMS");
    return at < 0 ? undefined : args[at + 1];
  }
  return args[1];
}

function text(arg: Arg | undefined): string {
  if (arg === undefined) return "";
  return typeof arg === "string" ? arg : Buffer.from(arg).toString("utf8");
}
