import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lintFiles } from "../../src/run.js";
import { bare } from "./cases.js";

const folder = mkdtempSync(join(tmpdir(), "echomq-lua-lint-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, source: string): { file: string; options: ReturnType<typeof bare> } {
  const at = join(folder, name);
  writeFileSync(at, source);
  return { file: at, options: bare() };
}

test("a finding is one line: file, line, rule, message", () => {
  const files = [file("good.lua", "return 1"), file("bad.lua", "\nreturn os.time()")];
  expect(lintFiles(files, folder, [])).toEqual({
    lines: ["bad.lua:2 W4 os reads something other than KEYS and ARGV"],
    missing: [],
  });
});

test("a compiler that is not there is named once and refuses nothing", () => {
  const files = [file("one.lua", "return 1"), file("two.lua", "return 2")];
  expect(lintFiles(files, folder, ["luac-of-no-version"])).toEqual({
    lines: [],
    missing: ["luac-of-no-version"],
  });
});

test("what a compiler refuses is a finding at its line", () => {
  const compiler = join(folder, "luac");
  writeFileSync(compiler, '#!/bin/sh\necho "luac: $3:7: unexpected symbol" >&2\nexit 1\n');
  chmodSync(compiler, 0o755);
  const [line] = lintFiles([file("odd.lua", "return 1")], folder, [compiler]).lines;
  expect(line).toMatch(/^odd\.lua:7 W10 luac: .*unexpected symbol$/);
});
