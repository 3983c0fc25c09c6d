import { describe, expect, test } from "vitest";
import type { Kind, Reserve, Unit } from "../../src/index.js";
import {
  buildKey,
  KINDS,
  kindKey,
  parseKey,
  queueKeys,
  RESERVE,
  reserveKey,
  stampKey,
  UNITS,
  unitKey,
  ValidationError,
} from "../../src/index.js";

const units = Object.keys(UNITS) as Unit[];
const kinds = Object.keys(KINDS) as Kind[];

describe("building", () => {
  test("spells each form as the wire does", () => {
    expect(stampKey("orders")).toBe("emq:{orders}:meta");
    expect(unitKey("{orders}", "wait")).toBe("emq:{orders}:v2:wait");
    expect(unitKey("orders", "metrics:completed")).toBe("emq:{orders}:v2:metrics:completed");
    expect(kindKey("orders", "job", "a:b:c")).toBe("emq:{orders}:v2:job:a:b:c");
    expect(reserveKey("version")).toBe("{emq}:version");
    expect(reserveKey("migration", "{orders}")).toBe("{emq}:migration:orders");
  });

  test("queueKeys builds the same keys with the name checked once", () => {
    const keys = queueKeys("{orders}");
    expect(keys.q).toBe("orders");
    expect(keys.stamp).toBe(stampKey("orders"));
    for (const unit of units) expect(keys.unit(unit)).toBe(unitKey("orders", unit));
    for (const kind of kinds) expect(keys.kind(kind, "7")).toBe(kindKey("orders", kind, "7"));
    expect(() => keys.kind("job", "")).toThrow(ValidationError);
    expect(() => queueKeys("a:b")).toThrow(ValidationError);
  });

  test.each([
    ["queue", () => stampKey("emq")],
    ["queue", () => unitKey("a:b", "wait")],
    ["unit", () => unitKey("a", "nope" as Unit)],
    ["unit", () => unitKey("a", "__proto__" as Unit)],
    ["unit", () => unitKey("a", "toString" as Unit)],
    ["kind", () => kindKey("a", "constructor" as Kind, "1")],
    ["jobId", () => kindKey("a", "job", "")],
    ["jobId", () => kindKey("a", "logs", 5 as unknown as string)],
    ["schedulerId", () => kindKey("a", "sched", "\n")],
    ["deduplicationId", () => kindKey("a", "dedup", "")],
    ["name", () => reserveKey("other" as Reserve)],
    ["queue", () => reserveKey("migration")],
    ["queue", () => reserveKey("migration", "a:b")],
    ["queue", () => reserveKey("version", "orders")],
  ])("refuses and names %s (%#)", (option, build) => {
    expect(build).toThrow(expect.objectContaining({ code: "VALIDATION", option }));
  });
});

describe("parsing", () => {
  test("undoes every unit, kind and reserve key", () => {
    expect(parseKey("emq:{orders}:meta")).toEqual({ type: "stamp", q: "orders" });
    for (const unit of units) {
      expect(parseKey(unitKey("orders", unit))).toEqual({ type: "unit", q: "orders", unit });
    }
    for (const kind of kinds) {
      expect(parseKey(kindKey("orders", kind, "1"))).toEqual({
        type: "kind",
        q: "orders",
        kind,
        id: "1",
      });
    }
    for (const name of RESERVE) {
      const parts = { type: "reserve", name, ...(name === "migration" && { q: "a b" }) } as const;
      expect(parseKey(buildKey(parts))).toEqual(parts);
    }
  });

  test.each(["meta", "wait", "completed", "__proto__", "a:b:c", "007", "}:meta", "v2:wait"])(
    "reads %j as an ordinary id of every kind",
    (id) => {
      for (const kind of kinds) {
        expect(parseKey(kindKey("orders", kind, id))).toEqual({
          type: "kind",
          q: "orders",
          kind,
          id,
        });
      }
    },
  );

  test.each([
    "",
    "emq",
    "emq:{",
    "emq:{}:meta",
    "emq:{orders}",
    "emq:{orders}:",
    "emq:{orders}:wait",
    "emq:{orders}:active",
    "emq:{orders}:meta:",
    "emq:{orders}:v2",
    "emq:{orders}:v2:",
    "emq:{orders}:v2:nope",
    "emq:{orders}:v2:__proto__",
    "emq:{orders}:v2:toString:1",
    "emq:{orders}:v2:job",
    "emq:{orders}:v2:job:",
    "emq:{orders}:v2:job:\u0000",
    `emq:{orders}:v2:job:${"i".repeat(513)}`,
    "emq:{orders}:v3:wait",
    "emq:{emq}:meta",
    "emq:{a:b}:meta",
    "emq:{{a}}:meta",
    "emq:{ a}:meta",
    "emq:{a\ud800}:meta",
    "emq:orders:meta",
    "EMQ:{orders}:meta",
    "bull:orders:meta",
    "bull:{orders}:wait",
    "{emq}",
    "{emq}:",
    "{emq}:other",
    "{emq}:version:",
    "{emq}:migration",
    "{emq}:migration:",
    "{emq}:migration:{orders}",
    "{emq}:migration:emq",
  ])("leaves %j unclassified", (key) => {
    expect(parseKey(key)).toEqual({ type: "unclassified", key });
  });
});
