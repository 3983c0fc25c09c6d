import { parse } from "./ast.js";
import type { Finding, LintOptions, Report } from "./finding.js";
import { analyse } from "./flow/analyse.js";
import { checkBounded } from "./rules/bounded.js";
import { checkCommandNames, checkDeclared } from "./rules/declared.js";
import { checkFence } from "./rules/fence.js";
import { checkGlobals } from "./rules/globals.js";
import { checkInventory } from "./rules/inventory.js";
import { checkOrder } from "./rules/order.js";
import { checkRefusals } from "./rules/refusals.js";
import { resolveScopes } from "./scope.js";
import { traceCalls } from "./trace.js";

/** Checks one bundled script against the laws of the wire; findings come in line order. */
export function lintScript(source: string, options: LintOptions): Finding[] {
  const found = new Map<string, Finding>();
  const report: Report = (rule, line, message) => {
    found.set(`${line} ${rule} ${message}`, { rule, line, message });
  };
  // luaparse knows no 5.4; what differs from 5.3 in syntax are attributes of locals, which 5.1 lacks.
  for (const version of ["5.1", "5.3"] as const) {
    const parsed = parse(source, version);
    if ("error" in parsed)
      report("W10", parsed.error.line, `Lua ${version}: ${parsed.error.message}`);
  }
  const parsed = parse(source, "5.1");
  if ("chunk" in parsed) {
    const { chunk } = parsed;
    const scopes = resolveScopes(chunk);
    const state = analyse(chunk, scopes, report);
    const trace = traceCalls(chunk, state);
    checkGlobals(chunk, scopes, report);
    checkCommandNames(chunk, state, report);
    checkInventory(chunk, scopes, report);
    checkDeclared(state, report);
    if (options.fence !== "migration") checkFence(chunk, state, trace.steps, report);
    checkOrder(trace, options, report);
    checkBounded(chunk, scopes, options.name, report);
    checkRefusals(chunk, scopes, report);
  }
  return [...found.values()].sort((a, b) => a.line - b.line || a.rule.localeCompare(b.rule));
}
