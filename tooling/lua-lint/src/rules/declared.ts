import type { Chunk } from "../ast.js";
import { argumentsOf, isCall, lineOf, nodesUnder } from "../ast.js";
import type { Report } from "../finding.js";
import type { State } from "../flow/state.js";
import { isNothing, notKey } from "../flow/value.js";
import { stepOf } from "../trace.js";
import { isRedisCall } from "./redis-call.js";

/** W1: every key operand of every call is an element of `KEYS`. */
export function checkDeclared(state: State, report: Report): void {
  for (const found of state.redisCalls.values()) {
    const { name, keys, line } = stepOf(found);
    for (const operand of keys) {
      // A parameter of a function that nothing calls holds nothing, and so breaks nothing.
      if (isNothing(operand) && !state.live.has(found.node)) continue;
      const why = notKey(operand);
      if (why !== null) report("W1", line, `${name}: a key may be ${why}, not an element of KEYS`);
    }
  }
}

/** W1: the command is a literal, so that its keys are known. */
export function checkCommandNames(chunk: Chunk, state: State, report: Report): void {
  for (const [node] of nodesUnder(chunk)) {
    if (!isCall(node) || !isRedisCall(node, state.scopes)) continue;
    if (argumentsOf(node)[0]?.type !== "StringLiteral") {
      report("W1", lineOf(node), "the command's name is computed");
    }
  }
}
