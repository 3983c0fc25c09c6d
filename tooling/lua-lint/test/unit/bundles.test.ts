import { readFileSync } from "node:fs";
import { basename } from "node:path";
import luaparse from "luaparse";
import { describe, expect, test } from "vitest";
import { bundleFiles } from "../../src/bundles.js";
import { COMMANDS } from "../../src/commands.js";
import { lintScript } from "../../src/index.js";

const FILES = bundleFiles();

describe.each(FILES.map((entry) => [basename(entry.file), entry] as const))("%s", (_, entry) => {
  const source = readFileSync(entry.file, "utf8");

  test("keeps the laws", () => {
    expect(lintScript(source, entry.options)).toEqual([]);
  });

  // Each key operand is replaced by an argument: a call the lint does not reach would stay silent.
  test("has no key operand the lint does not see", () => {
    for (const { line, start, end } of keyOperands(source)) {
      const spoilt = `${source.slice(0, start)}ARGV[1]${source.slice(end)}`;
      const found = lintScript(spoilt, entry.options);
      expect(
        found.some((finding) => finding.rule === "W1" && finding.line === line),
        `${source.slice(start, end)} in line ${line}`,
      ).toBe(true);
    }
  });
});

interface Operand {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/** Places of the key operands that are written out, by the inventory's positions. */
function keyOperands(source: string): readonly Operand[] {
  const found: Operand[] = [];
  const parse = luaparse.parse as (text: string, options: object) => unknown;
  parse(source, {
    luaVersion: "5.1",
    locations: true,
    ranges: true,
    encodingMode: "x-user-defined",
    onCreateNode: (node: luaparse.Node) => {
      if (node.type !== "CallExpression" || node.base.type !== "MemberExpression") return;
      const { base, identifier } = node.base;
      if (base.type !== "Identifier" || base.name !== "redis") return;
      const name = node.arguments[0];
      if (!/^p?call$/.test(identifier.name) || name?.type !== "StringLiteral") return;
      const [first, last, step] = COMMANDS[name.value]?.keys ?? [1, 0, 1];
      const end = last < 0 ? node.arguments.length + last : last;
      for (let at = first; at <= end; at += step) {
        const range = (node.arguments[at] as { range?: [number, number] } | undefined)?.range;
        if (range) found.push({ line: node.loc?.start.line ?? 0, start: range[0], end: range[1] });
      }
    },
  });
  return found;
}
