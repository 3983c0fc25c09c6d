import type { Block, Expression, Statement } from "../ast.js";
import { lineOf } from "../ast.js";
import { elementsOf } from "./builtins.js";
import { evaluate, evaluateIndex, evaluateList } from "./evaluate.js";
import type { State } from "./state.js";
import type { Multi, Value } from "./value.js";
import { nothing, nth, other, union } from "./value.js";

/** Runs every statement of a block once, branches and loops included, and adds to the state. */
export function runBlock(state: State, body: Block): void {
  for (const statement of body) run(state, statement);
}

function run(state: State, node: Statement): void {
  switch (node.type) {
    case "LocalStatement": {
      const values = evaluateList(state, node.init);
      node.variables.forEach((name, index) => {
        assign(state, name, nth(values, index));
      });
      return;
    }
    case "AssignmentStatement": {
      const values = evaluateList(state, node.init);
      node.variables.forEach((target, index) => {
        assign(state, target, nth(values, index));
      });
      return;
    }
    case "FunctionDeclaration": {
      const value = { ...nothing(), fns: new Set([state.fnOf(node)]) };
      if (node.identifier?.type === "MemberExpression" && node.identifier.indexer === ":") {
        // Its hidden first parameter would shift what every call passes.
        state.report("W1", lineOf(node), "declares a method, whose calls cannot be followed");
      }
      if (node.identifier) assign(state, node.identifier, value);
      return;
    }
    case "CallStatement":
      evaluate(state, node.expression);
      return;
    case "ReturnStatement":
      returned(state, evaluateList(state, node.arguments));
      return;
    case "IfStatement":
      for (const clause of node.clauses) {
        if (clause.type !== "ElseClause") evaluate(state, clause.condition);
        runBlock(state, clause.body);
      }
      return;
    case "WhileStatement":
    case "RepeatStatement":
      evaluate(state, node.condition);
      runBlock(state, node.body);
      return;
    case "DoStatement":
      runBlock(state, node.body);
      return;
    case "ForNumericStatement":
      for (const part of [node.start, node.end, node.step]) if (part) evaluate(state, part);
      assign(state, node.variable, other(`a number of the loop in line ${lineOf(node)}`));
      runBlock(state, node.body);
      return;
    case "ForGenericStatement":
      generic(state, node);
      runBlock(state, node.body);
      return;
    default:
  }
}

function assign(state: State, target: Expression, value: Value): void {
  if (target.type === "Identifier") {
    const binding = state.scopes.get(target);
    // A write to a global is refused by its own rule.
    if (binding) state.grow(state.variable(binding), value);
    return;
  }
  if (target.type !== "MemberExpression" && target.type !== "IndexExpression") return;
  const base = evaluate(state, target.base);
  const index =
    target.type === "MemberExpression"
      ? target.identifier.name
      : evaluateIndex(state, target.index);
  for (const made of base.tables) state.write(made, index, value, target);
  if (base.other !== null || base.builtins.size > 0) state.escape(value, target);
}

function returned(state: State, values: Multi): void {
  const fn = state.current;
  if (!fn) return;
  const before = { list: [...fn.returns.list], rest: union(fn.returns.rest) };
  const length = Math.max(before.list.length, values.list.length);
  for (let index = 0; index < length; index += 1) {
    const into = fn.returns.list[index] ?? union(before.rest);
    if (fn.returns.list[index] === undefined) {
      fn.returns.list[index] = into;
      state.changed = true;
    }
    state.grow(into, nth(values, index));
  }
  state.grow(fn.returns.rest, values.rest);
}

function generic(state: State, node: Extract<Statement, { type: "ForGenericStatement" }>): void {
  const [iterator] = node.iterators;
  const values = evaluateList(state, node.iterators);
  const line = lineOf(node);
  const [first, ...others] = node.variables;
  if (iterator?.type === "CallExpression" && node.iterators.length === 1) {
    const callee = evaluate(state, iterator.base);
    const names = [...callee.builtins];
    const only = callee.other === null && callee.fns.size === 0;
    if (only && names.length > 0 && names.every((name) => name === "ipairs" || name === "pairs")) {
      const given = nth(evaluateList(state, iterator.arguments), 0);
      const value = elementsOf(state, given, node);
      if (first) assign(state, first, other(`an index of the loop in line ${line}`));
      for (const name of others) assign(state, name, value);
      return;
    }
    if (only && names.length > 0 && names.every((name) => name === "string.gmatch")) {
      for (const name of node.variables) assign(state, name, other(`a match in line ${line}`));
      return;
    }
  }
  state.report("W1", line, "loops over an iterator that cannot be followed");
  state.escape(union(...values.list, values.rest), node);
  for (const name of node.variables)
    assign(state, name, other(`a value of the loop in line ${line}`));
}
