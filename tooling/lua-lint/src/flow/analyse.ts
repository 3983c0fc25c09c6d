import type { Chunk } from "../ast.js";
import type { Report } from "../finding.js";
import type { Scopes } from "../scope.js";
import { State } from "./state.js";
import { runBlock } from "./statements.js";

/**
 * Follows values through a script until nothing new is learnt, then reports once. Functions that no
 * call reaches come after the others, with parameters that hold nothing.
 */
export function analyse(chunk: Chunk, scopes: Scopes, report: Report): State {
  const state = new State(scopes);
  settle(state, chunk);
  for (const call of state.redisCalls.keys()) state.live.add(call);
  state.everything = true;
  settle(state, chunk);
  state.report = report;
  round(state, chunk);
  return state;
}

function settle(state: State, chunk: Chunk): void {
  do {
    state.changed = false;
    round(state, chunk);
  } while (state.changed);
}

function round(state: State, chunk: Chunk): void {
  state.current = undefined;
  runBlock(state, chunk.body);
  // A set may grow while it is walked: functions inside functions are met on the way.
  for (const fn of state.fns.values()) {
    if (!fn.reached && !state.everything) continue;
    state.current = fn;
    runBlock(state, fn.node.body);
  }
}
