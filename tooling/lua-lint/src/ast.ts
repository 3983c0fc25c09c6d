import type { Chunk, Expression, Identifier, Node, Statement } from "luaparse";
import luaparse from "luaparse";

export type {
  Chunk,
  Expression,
  FunctionDeclaration,
  Identifier,
  Node,
  Statement,
  TableConstructorExpression,
} from "luaparse";

export type Call = Extract<
  Expression,
  { type: "CallExpression" | "StringCallExpression" | "TableCallExpression" }
>;

export type Parsed =
  | { readonly chunk: Chunk }
  | { readonly error: { readonly line: number; readonly message: string } };

/** Parses Lua text. Bytes over 127 are kept apart one by one, as Lua does. */
export function parse(source: string, luaVersion: "5.1" | "5.3"): Parsed {
  const bytes = Buffer.from(source, "utf8").toString("latin1");
  try {
    return {
      chunk: luaparse.parse(bytes, {
        luaVersion,
        locations: true,
        comments: false,
        encodingMode: "pseudo-latin1",
      }),
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const line = (error as SyntaxError & { line?: number }).line ?? 1;
    return { error: { line, message: error.message } };
  }
}

/** Line of a node, from 1. */
export function lineOf(node: Node): number {
  return node.loc?.start.line ?? 1;
}

export function isCall(node: Node): node is Call {
  return (
    node.type === "CallExpression" ||
    node.type === "StringCallExpression" ||
    node.type === "TableCallExpression"
  );
}

/** Arguments of a call in any of Lua's three spellings. */
export function argumentsOf(call: Call): readonly Expression[] {
  if (call.type === "CallExpression") return call.arguments;
  // luaparse names the one argument of `f{}` in the plural; its types say neither list nor one.
  return call.type === "StringCallExpression" ? [call.argument] : [call.arguments].flat();
}

/** The number a literal stands for, `-1` and `'-1'` included. */
export function literalNumber(node: Expression | undefined): number | undefined {
  if (node?.type === "NumericLiteral") return node.value;
  if (node?.type === "StringLiteral" && /^-?\d+$/.test(node.value)) return Number(node.value);
  if (node?.type !== "UnaryExpression" || node.operator !== "-") return undefined;
  const value = literalNumber(node.argument);
  return value === undefined ? undefined : -value;
}

/** Direct children of a node in source order; names that are no variables are left out. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.type) {
    case "Chunk":
    case "DoStatement":
    case "ElseClause":
      return node.body;
    case "IfStatement":
      return node.clauses;
    case "IfClause":
    case "ElseifClause":
    case "WhileStatement":
      return [node.condition, ...node.body];
    case "RepeatStatement":
      return [...node.body, node.condition];
    case "ReturnStatement":
      return node.arguments;
    case "LocalStatement":
      return node.init;
    case "AssignmentStatement":
      return [...node.init, ...node.variables];
    case "CallStatement":
      return [node.expression];
    case "FunctionDeclaration":
      return [...functionTarget(node.identifier, node.isLocal), ...node.body];
    case "ForNumericStatement":
      return [node.start, node.end, ...(node.step ? [node.step] : []), ...node.body];
    case "ForGenericStatement":
      return [...node.iterators, ...node.body];
    case "TableConstructorExpression":
      return node.fields;
    case "TableKey":
      return [node.key, node.value];
    case "TableKeyString":
    case "TableValue":
      return [node.value];
    case "BinaryExpression":
    case "LogicalExpression":
      return [node.left, node.right];
    case "UnaryExpression":
      return [node.argument];
    case "MemberExpression":
      return [node.base];
    case "IndexExpression":
      return [node.base, node.index];
    case "CallExpression":
    case "StringCallExpression":
    case "TableCallExpression":
      return [node.base, ...argumentsOf(node)];
    default:
      return [];
  }
}

function functionTarget(target: Expression | null, isLocal: boolean): readonly Expression[] {
  return target === null || isLocal ? [] : [target];
}

/** Every node under `root`, with its parent. */
export function* nodesUnder(root: Node): Generator<readonly [node: Node, parent: Node]> {
  for (const child of childrenOf(root)) {
    yield [child, root];
    yield* nodesUnder(child);
  }
}

/** Text of a name path such as `redis.call`, else undefined. */
export function pathOf(
  node: Expression,
): { readonly root: Identifier; readonly member: string } | undefined {
  if (node.type !== "MemberExpression" || node.indexer !== ".") return undefined;
  return node.base.type === "Identifier"
    ? { root: node.base, member: node.identifier.name }
    : undefined;
}

export type Block = readonly Statement[];
