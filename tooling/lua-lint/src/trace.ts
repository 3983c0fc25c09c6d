import type { Chunk, Expression, Node } from "./ast.js";
import { argumentsOf, childrenOf, isCall, lineOf } from "./ast.js";
import type { Command } from "./commands.js";
import { COMMANDS } from "./commands.js";
import type { RedisCall, State } from "./flow/state.js";
import type { Fn, Value } from "./flow/value.js";
import { isNothing, nth } from "./flow/value.js";

/** One call of the server, where source order meets it. */
export interface Step extends RedisCall {
  readonly line: number;
  readonly name: string;
  readonly command: Command | undefined;
  readonly args: readonly Expression[];
  /** Its key operands. */
  readonly keys: readonly Value[];
}

/** The steps of a script and which of them a later one follows on some path. */
export interface Trace {
  readonly steps: readonly Step[];
  /** Steps before the one at `index` that may have run when it runs, in source order. */
  before(index: number): readonly Step[];
}

/**
 * The server calls of the main chunk in source order, each local function followed where it is called,
 * loops met once. A branch does not see its sibling, nor what follows a branch that returns.
 */
export function traceCalls(chunk: Chunk, state: State): Trace {
  const steps: Step[] = [];
  const hidden: { from: number; to: number; start: number; end: number }[] = [];
  const open = new Set<Fn>();

  /** Steps `start` to `end` are not seen from steps `from` to `to`. */
  function hide(start: number, end: number, from: number, to: number): void {
    if (start < end && from < to) hidden.push({ start, end, from, to });
  }

  function branches(node: Extract<Node, { type: "IfStatement" }>): void {
    const bodies: { start: number; end: number; returns: boolean }[] = [];
    for (const clause of node.clauses) {
      if (clause.type !== "ElseClause") visit(clause.condition);
      const start = steps.length;
      for (const statement of clause.body) visit(statement);
      const returns = clause.body.at(-1)?.type === "ReturnStatement";
      bodies.push({ start, end: steps.length, returns });
    }
    for (const { start, end, returns } of bodies) {
      hide(start, end, end, steps.length);
      // The end of what a return skips is known at the end of the function.
      if (returns) pending.push({ start, end, from: steps.length });
    }
  }

  function follow(fn: Fn): void {
    const outer = pending;
    pending = [];
    open.add(fn);
    for (const statement of fn.node.body) visit(statement);
    open.delete(fn);
    for (const { start, end, from } of pending) hide(start, end, from, steps.length);
    pending = outer;
  }

  function visit(node: Node): void {
    if (node.type === "FunctionDeclaration") return;
    if (node.type === "IfStatement") {
      branches(node);
      return;
    }
    for (const child of childrenOf(node)) visit(child);
    const found = isCall(node) && state.redisCalls.get(node);
    if (found) steps.push(stepOf(found));
    for (const fn of state.callees.get(node) ?? []) if (!open.has(fn)) follow(fn);
  }

  let pending: { start: number; end: number; from: number }[] = [];
  visit(chunk);
  for (const { start, end, from } of pending) hide(start, end, from, steps.length);
  const isHidden = (step: number, at: number): boolean =>
    hidden.some(({ start, end, from, to }) => start <= step && step < end && from <= at && at < to);
  return {
    steps,
    before: (index) => steps.slice(0, index).filter((_, step) => !isHidden(step, index)),
  };
}

export function stepOf(found: RedisCall): Step {
  const args = argumentsOf(found.node);
  const name = args[0]?.type === "StringLiteral" ? args[0].value.toUpperCase() : "";
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const keys = command ? keyOperands(found, command) : [];
  return { ...found, line: lineOf(found.node), name, command, args, keys };
}

/** Values that stand where the command expects keys. */
function keyOperands({ values }: RedisCall, { keys: [first, last, step] }: Command): Value[] {
  if (last === 1) return [nth(values, 1)];
  const end = last < 0 ? Math.max(values.list.length + last, first) : last;
  const found: Value[] = [];
  for (let at = first; at <= end; at += step) found.push(nth(values, at));
  // What follows the listed arguments may stand at a key's place whatever the step.
  return last < 0 && !isNothing(values.rest) ? [...found, values.rest] : found;
}
