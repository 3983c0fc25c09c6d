import { expect, test } from "vitest";
import { readArgs } from "../../src/args.js";

test("what is not said is the long form, with a seed of its own", () => {
  const { seed, ...args } = readArgs([]);
  expect(args).toEqual({
    help: false,
    kills: 200,
    minutes: 20,
    driver: undefined,
    engine: "redis",
    workers: 3,
    producers: 2,
    rate: 40,
    keep: undefined,
  });
  expect(Number.isSafeInteger(seed)).toBe(true);
});

test("all of it can be said", () => {
  const line = "--kills 3 --minutes 0.5 --seed 9 --driver node-redis --engine valkey --workers 2";
  expect(readArgs(line.split(" "))).toMatchObject({
    kills: 3,
    minutes: 0.5,
    seed: 9,
    driver: "node-redis",
    engine: "valkey",
    workers: 2,
  });
});

test.each([
  [["--kills=-1"], "--kills cannot be -1"],
  [["--kills", "1.5"], "--kills cannot be 1.5"],
  [["--minutes", "0"], "--minutes cannot be 0"],
  [["--seed", "x"], "--seed cannot be x"],
  [["--driver", "redis"], "--driver must be ioredis or node-redis"],
  [["--engine", "keydb"], "--engine must be redis or valkey"],
])("%j is refused", (argv, message) => {
  expect(() => readArgs(argv)).toThrow(message);
});

test("an option that does not exist is refused", () => {
  expect(() => readArgs(["--kill", "3"])).toThrow("--kill");
});
