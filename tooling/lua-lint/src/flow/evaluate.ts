import type { Call, Expression, TableConstructorExpression } from "../ast.js";
import { argumentsOf, isCall, lineOf, pathOf } from "../ast.js";
import { FORBIDDEN, FUNCTIONS, MEMBERS } from "../globals.js";
import { callBuiltin, REFUSED } from "./builtins.js";
import type { State } from "./state.js";
import type { Multi, Value } from "./value.js";
import { builtin, everyValue, nothing, nth, one, other, table, union } from "./value.js";

/** What one expression may be. */
export function evaluate(state: State, node: Expression): Value {
  switch (node.type) {
    case "Identifier":
      return identifier(state, node.name, state.scopes.get(node));
    case "FunctionDeclaration":
      return { ...nothing(), fns: new Set([state.fnOf(node)]) };
    case "TableConstructorExpression":
      return constructed(state, node);
    case "LogicalExpression": {
      const left = evaluate(state, node.left);
      const right = evaluate(state, node.right);
      // What `and` gives of its left side is nil or false, which no command takes for a key.
      return node.operator === "and" ? right : union(left, right);
    }
    case "BinaryExpression":
      evaluate(state, node.left);
      evaluate(state, node.right);
      return other(`${operation(node.operator)} in line ${lineOf(node)}`);
    case "UnaryExpression":
      evaluate(state, node.argument);
      return other(`the result of ${node.operator} in line ${lineOf(node)}`);
    case "MemberExpression":
      return member(state, node);
    case "IndexExpression": {
      const index = evaluateIndex(state, node.index);
      return element(state, evaluate(state, node.base), index, lineOf(node));
    }
    case "NilLiteral":
      return nothing();
    case "BooleanLiteral":
      return node.value ? other("true") : nothing();
    case "CallExpression":
    case "StringCallExpression":
    case "TableCallExpression":
    case "VarargLiteral":
      return nth(evaluateMulti(state, node), 0);
    default:
      return other(`the literal ${node.raw} in line ${lineOf(node)}`);
  }
}

/** What an expression at the end of a list may be: calls and `...` give several values. */
function evaluateMulti(state: State, node: Expression): Multi {
  if (isCall(node)) return call(state, node);
  if (node.type !== "VarargLiteral") return one(evaluate(state, node));
  return { list: [], rest: state.varargs ?? other("an argument of the chunk") };
}

export function evaluateList(state: State, nodes: readonly Expression[]): Multi {
  const last = nodes.at(-1);
  if (last === undefined) return { list: [], rest: nothing() };
  const head = nodes.slice(0, -1).map((node) => evaluate(state, node));
  const tail = evaluateMulti(state, last);
  return { list: [...head, ...tail.list], rest: tail.rest };
}

/** The index when it is a literal, else undefined. */
export function evaluateIndex(state: State, node: Expression): number | string | undefined {
  if (node.type === "NumericLiteral" || node.type === "StringLiteral") return node.value;
  evaluate(state, node);
  return undefined;
}

function operation(operator: string): string {
  return operator === ".." ? "a concatenation" : `the result of ${operator}`;
}

function identifier(
  state: State,
  name: string,
  binding: Parameters<State["variable"]>[0] | undefined,
): Value {
  if (binding) return state.variable(binding);
  if (name === "KEYS") return table(state.keysTable);
  if (name === "ARGV") return other("an element of ARGV");
  return builtin(FUNCTIONS.has(name) ? name : REFUSED);
}

function member(state: State, node: Extract<Expression, { type: "MemberExpression" }>): Value {
  const path = pathOf(node);
  if (path && !state.scopes.has(path.root)) {
    const { name } = path.root;
    if (name === "KEYS" || name === "ARGV") return other(`${name}.${path.member}`);
    const full = `${name}.${path.member}`;
    const members = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined;
    const plain = members?.has(path.member) && !Object.hasOwn(FORBIDDEN, full);
    // The server is called by name only; a value that holds `redis.call` is refused by its own rule.
    return builtin(plain && full !== "redis.call" && full !== "redis.pcall" ? full : REFUSED);
  }
  return element(state, evaluate(state, node.base), node.identifier.name, lineOf(node));
}

function element(
  state: State,
  base: Value,
  index: number | string | undefined,
  line: number,
): Value {
  const found = union(...[...base.tables].map((made) => state.read(made, index)));
  if (base.other !== null) return union(found, other(base.other));
  if (base.keys.size > 0) return union(found, other(`a part of a key in line ${line}`));
  if (base.builtins.size > 0) return union(found, builtin(REFUSED));
  return found;
}

function constructed(state: State, node: TableConstructorExpression): Value {
  const made = state.tableOf(node);
  let position = 0;
  for (const field of node.fields) {
    if (field.type === "TableKeyString") {
      state.write(made, field.key.name, evaluate(state, field.value), node);
    } else if (field.type === "TableKey") {
      const index = evaluateIndex(state, field.key);
      state.write(made, index, evaluate(state, field.value), node);
    } else if (field === node.fields.at(-1)) {
      const { list, rest } = evaluateMulti(state, field.value);
      for (const value of list) state.write(made, ++position, value, node);
      state.write(made, undefined, rest, node);
    } else {
      state.write(made, ++position, evaluate(state, field.value), node);
    }
  }
  return table(made);
}

function call(state: State, node: Call): Multi {
  const args = evaluateList(state, argumentsOf(node));
  const via = redisCall(state, node.base);
  if (via) {
    state.redisCalls.set(node, { node, via, values: args });
    return { list: [], rest: other(`a reply of the server in line ${lineOf(node)}`) };
  }
  if (node.base.type === "MemberExpression" && node.base.indexer === ":") {
    const self = evaluate(state, node.base.base);
    if (self.tables.size + self.fns.size > 0) unknown(state, node, union(self, everyValue(args)));
    state.escape(everyValue(args), node);
    return { list: [], rest: other(`the result of a method in line ${lineOf(node)}`) };
  }
  const callee = evaluate(state, node.base);
  const results = [
    ...[...callee.fns].map((fn) => state.apply(fn, args, node)),
    ...[...callee.builtins].map((name) => callBuiltin(state, name, args, node)),
  ];
  const followed = callee.other === null && callee.keys.size + callee.tables.size === 0;
  if (!followed || results.length === 0) {
    // A callee that is nothing yet may become known in a later round, so its arguments stay as they are.
    unknown(state, node, followed ? nothing() : everyValue(args));
    results.push({
      list: [],
      rest: followed ? nothing() : other(`an unknown function's result in line ${lineOf(node)}`),
    });
  }
  return merge(results);
}

function unknown(state: State, node: Call, given: Value): void {
  state.report("W1", lineOf(node), "calls a function that cannot be followed");
  state.escape(given, node);
}

function redisCall(state: State, base: Expression): "call" | "pcall" | undefined {
  const path = pathOf(base);
  if (path?.root.name !== "redis" || state.scopes.has(path.root)) return undefined;
  return path.member === "call" || path.member === "pcall" ? path.member : undefined;
}

function merge(results: readonly Multi[]): Multi {
  const length = Math.max(...results.map(({ list }) => list.length));
  return {
    list: Array.from({ length }, (_, index) =>
      union(...results.map((result) => nth(result, index))),
    ),
    rest: union(...results.map(({ rest }) => rest)),
  };
}
