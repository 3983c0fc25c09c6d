import type { Call } from "../ast.js";
import { pathOf } from "../ast.js";
import type { Scopes } from "../scope.js";

/** True for `redis.call(…)` and `redis.pcall(…)`. */
export function isRedisCall(node: Call, scopes: Scopes): boolean {
  return isCallOf(node, scopes, "call") || isCallOf(node, scopes, "pcall");
}

/** True for `redis.<member>(…)` by its own name. */
export function isCallOf(node: Call, scopes: Scopes, member: string): boolean {
  const path = pathOf(node.base);
  return path?.root.name === "redis" && !scopes.has(path.root) && path.member === member;
}
