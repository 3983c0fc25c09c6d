import { WIRE_CODES } from "@echomq/wire";
import type { Chunk, Expression } from "../ast.js";
import { argumentsOf, isCall, lineOf, literalNumber, nodesUnder } from "../ast.js";
import type { Report } from "../finding.js";
import type { Scopes } from "../scope.js";
import { isCallOf } from "./redis-call.js";

/** W7: every refusal says a class of the closed registry and then something, never a negative number. */
export function checkRefusals(chunk: Chunk, scopes: Scopes, report: Report): void {
  for (const [node, parent] of nodesUnder(chunk)) {
    const line = lineOf(node);
    if (isCall(node) && isCallOf(node, scopes, "error_reply")) {
      checkReply(argumentsOf(node)[0], line, report);
    } else if (node.type === "StringLiteral" && node.value.startsWith("EMQ")) {
      const partial = parent.type === "BinaryExpression" && parent.left === node;
      checkClass(node.value, partial, line, report);
    } else if (node.type === "TableKeyString" && node.key.name === "err") {
      report("W7", line, "an error reply is made by hand: use redis.error_reply");
    } else if (node.type === "ReturnStatement") {
      const negative = node.arguments.some((value) => (literalNumber(value) ?? 0) < 0);
      if (negative) report("W7", line, "answers with a negative number");
    }
  }
}

function checkReply(text: Expression | undefined, line: number, report: Report): void {
  let start = text;
  while (start?.type === "BinaryExpression" && start.operator === "..") start = start.left;
  // What begins with EMQ is checked where the literal stands.
  if (start?.type === "StringLiteral" && start.value.startsWith("EMQ")) return;
  report("W7", line, "the refusal does not begin with a literal class");
}

function checkClass(text: string, partial: boolean, line: number, report: Report): void {
  const [, name = text, detail = ""] = /^(\S*)(?: (.*))?$/s.exec(text) ?? [];
  if (!Object.hasOwn(WIRE_CODES, name))
    report("W7", line, `${name} is not a class of the registry`);
  else if (partial ? !text.startsWith(`${name} `) : detail.trim() === "") {
    report("W7", line, `${name} has no detail`);
  }
}
