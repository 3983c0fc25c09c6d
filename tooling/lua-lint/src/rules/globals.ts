import type { Chunk, Identifier, Node } from "../ast.js";
import { isCall, lineOf, nodesUnder, pathOf } from "../ast.js";
import type { Report, Rule } from "../finding.js";
import { FORBIDDEN, FUNCTIONS, MEMBERS } from "../globals.js";
import type { Scopes } from "../scope.js";

/** W1, W4 and W10 of names: no way round `redis.call`, nothing but `KEYS` and `ARGV`, nothing unportable. */
export function checkGlobals(chunk: Chunk, scopes: Scopes, report: Report): void {
  const parents = new Map<Node, Node>(nodesUnder(chunk));
  for (const node of parents.keys()) {
    if (node.type !== "Identifier" || scopes.has(node)) continue;
    const parent = parents.get(node) ?? chunk;
    if (isTarget(node, parent)) {
      const fixed = ["KEYS", "ARGV", "redis"].includes(node.name);
      report(fixed ? "W1" : "W10", lineOf(node), `writes to the global ${node.name}`);
    } else {
      checkName(node, parent, parents.get(parent) ?? chunk, report);
    }
  }
}

function checkName(node: Identifier, parent: Node, grandparent: Node, report: Report): void {
  const { name } = node;
  const refuse = (rule: Rule, message: string): void => report(rule, lineOf(node), message);
  if (name === "KEYS" || name === "ARGV") return;
  const path =
    parent.type === "MemberExpression" && parent.base === node ? pathOf(parent) : undefined;
  const full = path ? `${name}.${path.member}` : name;
  const members = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined;
  const forbidden = [name, full].find((text) => Object.hasOwn(FORBIDDEN, text));
  if (forbidden !== undefined) {
    const [rule, why] = FORBIDDEN[forbidden] ?? ["W10", "is refused"];
    refuse(rule, `${forbidden} ${why}`);
  } else if (members === undefined) {
    if (!FUNCTIONS.has(name)) refuse("W10", `the global ${name} is not in the inventory`);
    else if (name === "unpack" && !isFallback(parent)) {
      refuse("W10", "unpack is not a global of Lua 5.4: take `unpack or table.unpack`");
    }
  } else if (path === undefined) {
    refuse(name === "redis" ? "W1" : "W10", `${name} is used other than as ${name}.<name>`);
  } else if (!members.has(path.member)) {
    refuse("W10", `${full} is not in the inventory`);
  } else if (isTarget(parent, grandparent)) {
    refuse("W1", `${full} is replaced`);
  } else if (full === "table.unpack" && !isFallback(grandparent)) {
    refuse("W10", "table.unpack is not in Lua 5.1: take `unpack or table.unpack`");
  } else if (full === "redis.call" || full === "redis.pcall") {
    const called = isCall(grandparent) && grandparent.base === parent;
    if (!called) refuse("W1", `${full} is taken as a value, so its calls cannot be followed`);
  }
}

function isTarget(node: Node, parent: Node): boolean {
  if (parent.type === "AssignmentStatement")
    return parent.variables.some((target) => target === node);
  return parent.type === "FunctionDeclaration" && parent.identifier === node;
}

/** `unpack or table.unpack`, the one spelling that works in both Luas. */
function isFallback(node: Node): boolean {
  return (
    node.type === "LogicalExpression" &&
    node.operator === "or" &&
    node.left.type === "Identifier" &&
    node.left.name === "unpack" &&
    pathOf(node.right)?.member === "unpack"
  );
}
