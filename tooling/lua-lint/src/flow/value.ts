import type { FunctionDeclaration } from "../ast.js";
import type { Binding } from "../scope.js";

/**
 * What an expression may be, over all runs: elements of `KEYS`, tables made at known places, known
 * functions, or something else. Values only grow, so the analysis ends.
 */
export interface Value {
  /** Elements of `KEYS` by position; `*` where the position is computed. */
  readonly keys: Set<string>;
  readonly tables: Set<Table>;
  readonly fns: Set<Fn>;
  readonly builtins: Set<string>;
  /** Why it may be none of these, in words; null when it cannot. */
  other: string | null;
}

/** All tables one constructor makes. */
export interface Table {
  readonly at: Map<number | string, Value>;
  /** Elements written under a computed index. */
  readonly any: Value;
}

/** A function of the script. Its parameters hold what any call passes. */
export interface Fn {
  readonly node: FunctionDeclaration;
  readonly parameters: readonly Binding[];
  readonly varargs: Value;
  readonly returns: { list: Value[]; readonly rest: Value };
  reached: boolean;
}

/** What a list of expressions may be: the first ones by position, then `rest` for all that follow. */
export interface Multi {
  readonly list: readonly Value[];
  readonly rest: Value;
}

export function nothing(): Value {
  return { keys: new Set(), tables: new Set(), fns: new Set(), builtins: new Set(), other: null };
}

export function other(why: string): Value {
  return { ...nothing(), other: why };
}

export function key(position: string): Value {
  return { ...nothing(), keys: new Set([position]) };
}

export function builtin(name: string): Value {
  return { ...nothing(), builtins: new Set([name]) };
}

export function table(made: Table): Value {
  return { ...nothing(), tables: new Set([made]) };
}

export function emptyTable(): Table {
  return { at: new Map(), any: nothing() };
}

/** Adds `from` to `into`; true when that changed anything. */
export function grow(into: Value, from: Value): boolean {
  let changed = false;
  const add = <T>(to: Set<T>, items: Set<T>): void => {
    for (const item of items) {
      if (to.has(item)) continue;
      to.add(item);
      changed = true;
    }
  };
  add(into.keys, from.keys);
  add(into.tables, from.tables);
  add(into.fns, from.fns);
  add(into.builtins, from.builtins);
  if (into.other === null && from.other !== null) {
    into.other = from.other;
    changed = true;
  }
  return changed;
}

export function union(...values: readonly Value[]): Value {
  const sum = nothing();
  for (const value of values) grow(sum, value);
  return sum;
}

export function nth(multi: Multi, index: number): Value {
  return multi.list[index] ?? multi.rest;
}

export function one(value: Value): Multi {
  return { list: [value], rest: nothing() };
}

export function everyValue(multi: Multi): Value {
  return union(...multi.list, multi.rest);
}

/** Why a value is not proven to be an element of `KEYS`, or null when it is. */
export function notKey(value: Value): string | null {
  if (value.other !== null) return value.other;
  if (value.tables.size > 0) return "a table";
  if (value.fns.size + value.builtins.size > 0) return "a function";
  return value.keys.size > 0 ? null : "nothing that is ever set";
}

/** True for what can only be nil. */
export function isNothing(value: Value): boolean {
  const { keys, tables, fns, builtins } = value;
  return value.other === null && keys.size + tables.size + fns.size + builtins.size === 0;
}
