import type { Chunk, Statement } from "../ast.js";
import { isCall, nodesUnder } from "../ast.js";
import type { Report } from "../finding.js";
import type { State } from "../flow/state.js";
import type { Step } from "../trace.js";
import { isCallOf } from "./redis-call.js";

/** W3: the script first reads `KEYS[1]` by `pcall` and at once refuses every other version. */
export function checkFence(
  chunk: Chunk,
  state: State,
  steps: readonly Step[],
  report: Report,
): void {
  const [first] = steps;
  const stamp = first?.keys[0];
  const own = stamp !== undefined && stamp.other === null && [...stamp.keys].join() === "1";
  if (first?.name !== "GET" || first.via !== "pcall" || !own) {
    report("W3", first?.line ?? 1, "the first call is not redis.pcall('GET', KEYS[1])");
    return;
  }
  const at = chunk.body.findIndex((statement) => holds(statement, first));
  const next = chunk.body[at + 1];
  if (!next || !refuses(next, state)) {
    report(
      "W3",
      first.line,
      "the stamp is not compared and refused with EMQFENCE right after it is read",
    );
  }
}

function holds(statement: Statement, step: Step): boolean {
  return [...nodesUnder(statement)].some(([node]) => node === step.node);
}

function refuses(statement: Statement, state: State): boolean {
  if (statement.type !== "IfStatement") return false;
  const [clause] = statement.clauses;
  if (clause?.type !== "IfClause") return false;
  const major = [...nodesUnder(clause.condition)].some(
    ([node]) => node.type === "StringLiteral" && node.value === "echomq:2.",
  );
  const last = clause.body.at(-1);
  const call = last?.type === "ReturnStatement" ? last.arguments[0] : undefined;
  if (!major || !call || !isCall(call) || !isCallOf(call, state.scopes, "error_reply"))
    return false;
  return [...nodesUnder(call)].some(
    ([node]) => node.type === "StringLiteral" && node.value.startsWith("EMQFENCE "),
  );
}
