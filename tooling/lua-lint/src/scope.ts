import type { Block, Expression, Identifier, Node, Statement } from "./ast.js";
import { childrenOf } from "./ast.js";

/** A local variable or a parameter. */
export interface Binding {
  readonly name: string;
  readonly declared: Identifier;
}

/** Which local each name means; a name that is not in here is a global. */
export type Scopes = ReadonlyMap<Identifier, Binding>;

type Frame = Map<string, Binding>;

/** Resolves every name of a chunk by Lua's scoping rules. */
export function resolveScopes(chunk: Node & { readonly body: Block }): Scopes {
  const found = new Map<Identifier, Binding>();

  function declare(frame: Frame, declared: Identifier): void {
    const binding = { name: declared.name, declared };
    frame.set(declared.name, binding);
    found.set(declared, binding);
  }

  function block(body: Block, outer: readonly Frame[], names: readonly Identifier[] = []): Frame[] {
    const frame: Frame = new Map();
    const frames = [...outer, frame];
    for (const name of names) declare(frame, name);
    for (const statement of body) visit(statement, frames);
    return frames;
  }

  function func(
    node: Extract<Node, { type: "FunctionDeclaration" }>,
    frames: readonly Frame[],
  ): void {
    const names = node.parameters.filter((parameter) => parameter.type === "Identifier");
    block(node.body, frames, names);
  }

  function expression(node: Expression, frames: readonly Frame[]): void {
    visit(node, frames);
  }

  function visit(node: Statement | Node, frames: readonly Frame[]): void {
    const here = frames.at(-1) as Frame;
    switch (node.type) {
      case "Identifier": {
        const frame = frames.findLast((candidate) => candidate.has(node.name));
        const binding = frame?.get(node.name);
        if (binding) found.set(node, binding);
        return;
      }
      case "LocalStatement":
        for (const init of node.init) expression(init, frames);
        for (const name of node.variables) declare(here, name);
        return;
      case "FunctionDeclaration":
        if (node.isLocal && node.identifier?.type === "Identifier") declare(here, node.identifier);
        else if (node.identifier) visit(node.identifier, frames);
        func(node, frames);
        return;
      case "ForNumericStatement":
        for (const part of [node.start, node.end, node.step]) if (part) expression(part, frames);
        block(node.body, frames, [node.variable]);
        return;
      case "ForGenericStatement":
        for (const iterator of node.iterators) expression(iterator, frames);
        block(node.body, frames, node.variables);
        return;
      case "WhileStatement":
      case "IfClause":
      case "ElseifClause":
        expression(node.condition, frames);
        block(node.body, frames);
        return;
      case "ElseClause":
      case "DoStatement":
        block(node.body, frames);
        return;
      case "RepeatStatement":
        // The condition sees the locals of the body.
        expression(node.condition, block(node.body, frames));
        return;
      default:
        for (const child of childrenOf(node)) visit(child, frames);
    }
  }

  block(chunk.body, []);
  return found;
}
