import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { KINDS, LIMITS, UNITS } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import { RUN_FIELDS, type ScriptName, SPECS } from "../../src/index.js";
import { NAMES } from "../support/population.js";
import { encodedCall, scriptOf } from "../support/raw.js";

const read = (file: string): string =>
  readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

const REFUSAL = /error_reply\('(EMQ[A-Z]+)/g;

describe("laws of the registry", () => {
  test("each script stands under its own name", () => {
    for (const name of NAMES) expect(SPECS[name].name).toBe(name);
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  test.each(NAMES)("%s: names within it are unique and its keys are of the wire", (name) => {
    const { keys, groups, args, tables } = SPECS[name];
    const names = [...keys, ...groups, ...args, ...tables].map((one) =>
      typeof one === "string" ? one : one.name,
    );
    expect(new Set(names).size).toBe(names.length);
    for (const { columns } of tables) {
      expect(new Set(columns.map((column) => column.name)).size).toBe(columns.length);
    }
    for (const key of keys.filter((one) => one !== "stamp" && !one.startsWith("reserve:"))) {
      expect(Object.hasOwn(UNITS, key)).toBe(true);
    }
    for (const { kinds } of groups) {
      if (kinds !== "raw") for (const kind of kinds) expect(Object.hasOwn(KINDS, kind)).toBe(true);
    }
  });

  test.each(NAMES)("%s: bounded, and by 500 where it writes jobs (W6)", (name) => {
    const { writes, bound, fence, args, groups, tables } = SPECS[name];
    expect(bound).toBeGreaterThan(0);
    if (writes && fence !== "reserve") expect(bound).toBeLessThanOrEqual(LIMITS.writeBound);
    // Whatever says how many is bounded as data, not by trust.
    for (const arg of args.filter((one) => ["claim", "hints", "limit"].includes(one.name))) {
      expect(arg.most).toBeLessThanOrEqual(LIMITS.writeBound);
    }
    if (groups.length + tables.length > 0) expect(bound).toBeLessThanOrEqual(LIMITS.writeBound);
  });

  test.each(NAMES)("%s: all keys of a call share one hash tag (W2)", (name) => {
    const tags = encodedCall(name, "some-queue").keys.map((key) => /\{([^}]*)\}/.exec(key)?.[1]);
    expect(new Set(tags)).toEqual(
      new Set([SPECS[name].fence === "reserve" ? "emq" : "some-queue"]),
    );
  });

  test.each(NAMES)("%s: the fence is its first command, by pcall, on KEYS[1] (W3)", (name) => {
    const { source, spec } = scriptOf(name);
    expect(spec.keys[0]).toBe(spec.fence === "reserve" ? "reserve:version" : "stamp");
    if (spec.fence === "step") expect(spec.keys[1]).toBe("meta");
    const first = source.slice(0, source.indexOf("redis.") + 40);
    expect(first).toMatch(/local (?:stamp|version) = KEYS\[1\]\n/);
    expect(first).toMatch(/redis\.pcall\('GET', (?:stamp|version)\)/);
    const second = source.indexOf("redis.call");
    expect(source.indexOf("EMQFENCE")).toBeLessThan(second);
  });

  test.each(NAMES)("%s: refuses with the classes it declares and no other (W7)", (name) => {
    const { source, spec } = scriptOf(name);
    const found = new Set([...source.matchAll(REFUSAL)].map(([, code]) => code));
    expect(found).toEqual(new Set(["EMQFENCE", "EMQARG", ...spec.refusals]));
  });

  test("only scripts that settle, count, tell or append are never sent twice", () => {
    const once = NAMES.filter((name) => !SPECS[name].repeatable);
    expect(once).toEqual([
      "step",
      "turn",
      "finish",
      "count",
      "publish",
      "unlock",
      "log",
    ] satisfies ScriptName[]);
  });

  test("a value that the data bounds is refused before the wire and by the script", () => {
    for (const name of NAMES) {
      for (const arg of SPECS[name].args.filter(({ most }) => most !== undefined)) {
        expect(scriptOf(name).source).toContain(`if ${arg.name} > ${arg.most} then bad`);
      }
    }
  });
});

describe("the bundle", () => {
  test.each(NAMES)("%s: the SHA is that of its source, and the file holds the source", (name) => {
    const { sha, source, spec } = scriptOf(name);
    expect(sha).toBe(createHash("sha1").update(source).digest("hex"));
    expect(read(`bundle/${name}.lua`)).toBe(`${source}\n`);
    expect(spec).toBe(SPECS[name]);
  });

  test("the manifest names every script with that SHA", () => {
    const { scripts } = JSON.parse(read("manifest.json")) as {
      scripts: { name: string; sha: string; keys: string[] }[];
    };
    expect(scripts.map(({ name }) => name)).toEqual(NAMES);
    for (const { name, sha, keys } of scripts) {
      expect(sha).toBe(scriptOf(name as ScriptName).sha);
      expect(keys).toEqual(SPECS[name as ScriptName].keys);
    }
  });

  test("the fields of a run are those the scripts read, in order", () => {
    const lua = read("lua/lib/run_fields.lua");
    const first = /fields = \{ (.*) \}/.exec(lua)?.[1]?.split(", ") ?? [];
    for (const field of first) expect(lua).toContain(`field == '${field}' then ${field} = `);
    const table = /place = \{([^}]*)\}/.exec(lua)?.[1] ?? "";
    const later = [...table.matchAll(/(\w+) = (\d+)/g)].map(([, field, at]) => [field, Number(at)]);
    expect([...first.map((field, at) => [field, at + 1]), ...later]).toEqual(
      RUN_FIELDS.map((field, at) => [field, at + 1]),
    );
  });
});
