import type { ArgSpec, ScriptSpec } from "./spec.js";

/** Numbers that can be no larger than this share one argument, as {@link DIGITS} digits each. */
export const SMALL = 999;
export const DIGITS = 3;

/** How the arguments of one row of a table stand in `ARGV`. */
export interface RowLayout {
  readonly name: string;
  /** Whole numbers that share the row's first argument, with a space between; none where there is only one. */
  readonly numbers: readonly ArgSpec[];
  /** Columns with an argument each, after the numbers. */
  readonly cells: readonly ArgSpec[];
  /** Arguments of a row. */
  readonly width: number;
}

/** How a call's arguments stand in `ARGV`: each string of it costs a script more than what it does with it. */
export interface Layout {
  /** In `ARGV[1]`, where there are any: counts of groups and tables, and single arguments. */
  readonly small: readonly ArgSpec[];
  /** Single arguments with a place of their own. */
  readonly single: readonly ArgSpec[];
  readonly rows: readonly RowLayout[];
}

const layouts = new WeakMap<ScriptSpec, Layout>();

/**
 * The layout of a script's arguments, made once for each script.
 * @throws TypeError when a count would not fit its digits, which only a wrong registry can do.
 */
export function layoutOf(spec: ScriptSpec): Layout {
  const known = layouts.get(spec);
  if (known) return known;
  const counts = [...spec.groups, ...spec.tables].map(
    ({ name }): ArgSpec => ({ name, type: "int", most: spec.bound, doc: `count of ${name}` }),
  );
  if (counts.length > 0 && spec.bound > SMALL) {
    throw new TypeError(`${spec.name}: groups and tables are bounded by ${SMALL}`);
  }
  const all = [...counts, ...spec.args];
  const made = {
    small: all.filter(isSmall),
    single: all.filter((arg) => !isSmall(arg)),
    rows: spec.tables.map(({ name, columns }): RowLayout => {
      const whole = columns.filter(({ type }) => type === "int");
      const numbers = whole.length > 1 ? whole : [];
      const cells = columns.filter((column) => !numbers.includes(column));
      return { name, numbers, cells, width: cells.length + (numbers.length > 0 ? 1 : 0) };
    }),
  };
  layouts.set(spec, made);
  return made;
}

function isSmall({ type, most }: ArgSpec): boolean {
  return type === "int" && most !== undefined && most <= SMALL;
}
