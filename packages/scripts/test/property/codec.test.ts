import { unitKey } from "@echomq/wire";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeCall, type ScriptName, SPECS } from "../../src/index.js";
import type { AnyCall } from "../../src/registry/codec.js";
import { layoutOf } from "../../src/registry/layout.js";
import { NAMES } from "../support/population.js";

const queue = fc.stringMatching(/^[A-Za-z0-9._-]{1,40}$/).filter((q) => q !== "emq");
const id = fc
  .string({ minLength: 1, maxLength: 40, unit: "grapheme" })
  .filter((text) => !/\p{Cc}/u.test(text) && text.isWellFormed());

/** Any valid call of a script, made from its data. */
function callOf(name: ScriptName): fc.Arbitrary<AnyCall> {
  const { groups, args, tables, bound } = SPECS[name];
  const value = (arg: (typeof args)[number]): fc.Arbitrary<string | number> =>
    arg.type === "text"
      ? fc.string()
      : fc.integer({ min: 0, max: arg.most ?? Number.MAX_SAFE_INTEGER });
  const row = (columns: typeof args): fc.Arbitrary<Record<string, string | number>> =>
    fc.record(Object.fromEntries(columns.map((column) => [column.name, value(column)])));
  const most = Math.min(bound, 6);
  // Whole keys are given as they stand: here the queue's own, as every caller must.
  return queue.chain((q) => {
    const member = (kinds: (typeof groups)[number]["kinds"]): fc.Arbitrary<string> =>
      kinds === "raw" ? fc.constant(unitKey(q, "completed")) : id;
    return fc.record({
      q: fc.constant(q),
      args: row(args),
      ...Object.fromEntries(
        groups.map(({ name, kinds }) => [name, fc.array(member(kinds), { maxLength: most })]),
      ),
      ...Object.fromEntries(
        tables.map((table) => [table.name, fc.array(row(table.columns), { maxLength: most })]),
      ),
    });
  }) as fc.Arbitrary<AnyCall>;
}

describe.each(NAMES)("any call of %s", (name) => {
  const spec = SPECS[name];

  test("has one hash tag, and counts that say how keys and arguments are cut", () => {
    fc.assert(
      fc.property(callOf(name), (call) => {
        const { keys, argv } = encodeCall(spec, call);
        const tag = spec.fence === "reserve" ? "emq" : call.q;
        for (const key of keys) expect(/\{([^}]*)\}/.exec(key)?.[1]).toBe(tag);
        const { small, single, rows } = layoutOf(spec);
        const counts = (argv[0]?.match(/\d{3}/g) ?? []).map(Number);
        const members = spec.groups.map(
          ({ kinds }, n) => (counts[n] ?? 0) * (kinds === "raw" ? 1 : kinds.length),
        );
        const cells = rows.map(({ width }, n) => (counts[spec.groups.length + n] ?? 0) * width);
        const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
        expect(keys).toHaveLength(spec.keys.length + sum(members));
        expect(argv).toHaveLength((small.length > 0 ? 1 : 0) + single.length + sum(cells));
        expect(argv.every((text) => typeof text === "string")).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
