import type { Chunk, Expression } from "../ast.js";
import { argumentsOf, isCall, lineOf, literalNumber, nodesUnder } from "../ast.js";
import { WHOLE } from "../config.js";
import type { Report } from "../finding.js";
import type { Scopes } from "../scope.js";
import { isRedisCall } from "./redis-call.js";

const ALWAYS = new Set(
  "SMEMBERS HGETALL HKEYS HVALS SINTER SUNION SDIFF SINTERSTORE SUNIONSTORE SDIFFSTORE".split(" "),
);
const REMOVES = new Set(["ZREMRANGEBYSCORE", "ZREMRANGEBYLEX"]);
const BY_RANK = new Set(["LRANGE", "ZREVRANGE", "ZREMRANGEBYRANK"]);
const BY_VALUE = new Set("ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX".split(" "));
const STREAMS = new Set(["XRANGE", "XREVRANGE"]);

/** W6: no command that takes a whole structure, unless the structure is small by construction. */
export function checkBounded(chunk: Chunk, scopes: Scopes, script: string, report: Report): void {
  for (const [node] of nodesUnder(chunk)) {
    if (!isCall(node) || !isRedisCall(node, scopes)) continue;
    const [command, , ...args] = argumentsOf(node);
    if (command?.type !== "StringLiteral") continue;
    const name = command.value.toUpperCase();
    if (!takesAll(name, args) || WHOLE[script]?.[name] !== undefined) continue;
    report("W6", lineOf(node), `${name} takes a whole structure`);
  }
}

function takesAll(name: string, args: readonly Expression[]): boolean {
  if (ALWAYS.has(name) || REMOVES.has(name)) return true;
  if (BY_RANK.has(name)) return toTheEnd(args);
  if (BY_VALUE.has(name)) return !hasWord(args, "LIMIT");
  if (STREAMS.has(name)) return !hasWord(args, "COUNT");
  if (name !== "ZRANGE" && name !== "ZRANGESTORE") return false;
  const range = name === "ZRANGE" ? args : args.slice(1);
  const byValue = hasWord(range, "BYSCORE") || hasWord(range, "BYLEX");
  return byValue ? !hasWord(range, "LIMIT") : toTheEnd(range);
}

/** From the start, or a place near it, to a place counted from the end. */
function toTheEnd([from, to]: readonly Expression[]): boolean {
  const start = literalNumber(from);
  const end = literalNumber(to);
  return start !== undefined && end !== undefined && start >= 0 && end < 0;
}

function hasWord(args: readonly Expression[], word: string): boolean {
  return args.some((arg) => arg.type === "StringLiteral" && arg.value.toUpperCase() === word);
}
