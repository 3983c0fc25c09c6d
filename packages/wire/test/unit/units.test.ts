import { describe, expect, expectTypeOf, test } from "vitest";
import type { Kind, RedisType, Unit, UnitSpec } from "../../src/index.js";
import { KIND_HOLDS, KINDS, RESERVE, UNITS } from "../../src/index.js";

describe("the manifest", () => {
  test("fits its own types", () => {
    expectTypeOf(UNITS).toExtend<Readonly<Record<Unit, UnitSpec>>>();
    expectTypeOf(KINDS).toExtend<Readonly<Record<Kind, RedisType>>>();
  });

  test("holds the closed registry of units with their types", () => {
    const types = Object.entries(UNITS).map(([unit, { type }]) => `${unit} ${type}`);
    expect(types.sort()).toMatchInlineSnapshot(`
      [
        "active zset",
        "completed zset",
        "delayed zset",
        "events stream",
        "extras set",
        "failed zset",
        "held zset",
        "inbox zset",
        "limiter string",
        "marker zset",
        "meta hash",
        "metrics:completed hash",
        "metrics:failed hash",
        "outbox hash",
        "outbox-due zset",
        "owners hash",
        "parents set",
        "pc string",
        "priorities hash",
        "prioritized zset",
        "schedulers zset",
        "staged zset",
        "trash zset",
        "verdicts hash",
        "wait list",
        "waiting-children zset",
        "workers zset",
        "workers-info hash",
      ]
    `);
  });

  test("says what each unit and kind holds", () => {
    for (const { holds } of Object.values(UNITS)) expect(holds).toMatch(/^.{10,}[^.]$/);
    expect(Object.keys(KIND_HOLDS)).toEqual(Object.keys(KINDS));
  });

  test("no unit begins with a kind and a colon, else a key could be read in two ways", () => {
    for (const unit of Object.keys(UNITS)) {
      expect(Object.keys(KINDS)).not.toContain(unit.split(":")[0]);
    }
  });

  test("names the server-wide keys", () => {
    expect(RESERVE).toEqual(["version", "nodes", "queues", "bundle", "migration"]);
  });
});
