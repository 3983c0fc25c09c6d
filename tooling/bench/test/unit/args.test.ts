import { expect, test } from "vitest";
import { HELP, readArgs } from "../../src/args.js";
import { CASES } from "../../src/cases.js";

test("cases are given as a list or one by one", () => {
  const { only } = readArgs(["--only", "add-64,cpu-c1", "--only", "latency-p50"]);
  expect(only).toEqual(["add-64", "cpu-c1", "latency-p50"]);
});

test("a wrong value is refused by name", () => {
  expect(() => readArgs(["--only", "add-65"])).toThrow("there is no case add-65");
  expect(() => readArgs(["--rounds", "0"])).toThrow("--rounds cannot be 0");
  expect(() => readArgs(["--scale", "much"])).toThrow("--scale cannot be much");
  expect(() => readArgs(["--fast"])).toThrow("--fast");
});

test("the help names every case", () => {
  for (const { id } of CASES) expect(HELP).toContain(id);
});
