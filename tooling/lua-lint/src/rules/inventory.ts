import type { Chunk } from "../ast.js";
import { argumentsOf, isCall, lineOf, nodesUnder } from "../ast.js";
import { COMMANDS, IMPURE, LATER_OPTIONS, WALKS } from "../commands.js";
import type { Report } from "../finding.js";
import type { Scopes } from "../scope.js";
import { isRedisCall } from "./redis-call.js";

/** W4, W6 and W10 of commands: only those of the closed inventory, also where no call reaches them. */
export function checkInventory(chunk: Chunk, scopes: Scopes, report: Report): void {
  for (const [node] of nodesUnder(chunk)) {
    if (!isCall(node) || !isRedisCall(node, scopes)) continue;
    const [command, ...args] = argumentsOf(node);
    if (command?.type !== "StringLiteral") continue;
    const name = command.value.toUpperCase();
    const line = lineOf(node);
    if (IMPURE.has(name)) report("W4", line, `${name} answers by chance or by the clock`);
    else if (WALKS.has(name)) report("W6", line, `${name} walks the whole keyspace`);
    else if (!Object.hasOwn(COMMANDS, name)) report("W10", line, `${name} is not in the inventory`);
    const later = Object.hasOwn(LATER_OPTIONS, name) ? LATER_OPTIONS[name] : undefined;
    for (const arg of later ? args.slice(1) : []) {
      if (arg.type === "StringLiteral" && later?.has(arg.value.toUpperCase())) {
        report("W10", line, `${name} has the option ${arg.value} only after 6.2`);
      }
    }
  }
}
