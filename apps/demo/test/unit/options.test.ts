import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readOptions } from "../../src/options.js";

const said: string[] = [];

beforeEach(() => {
  said.length = 0;
  vi.stubEnv("ECHOMQ_REDIS_URL", undefined);
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => said.push(String(text)) > 0);
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test("without arguments", () => {
  expect(readOptions([])).toEqual({
    options: { jobs: 2_000, driver: "ioredis", url: undefined, color: true },
  });
});

test("with all arguments", () => {
  const args = ["--jobs", "60", "--driver=node-redis", "--url", "rediss://h:1", "--no-color"];
  expect(readOptions(args)).toEqual({
    options: { jobs: 60, driver: "node-redis", url: "rediss://h:1", color: false },
  });
});

test("the server may come from the environment, where an empty value is none", () => {
  vi.stubEnv("ECHOMQ_REDIS_URL", "redis://env:1");
  expect(readOptions([])).toMatchObject({ options: { url: "redis://env:1" } });
  expect(readOptions(["--url", "redis://arg:1"])).toMatchObject({
    options: { url: "redis://arg:1" },
  });
  vi.stubEnv("ECHOMQ_REDIS_URL", "");
  expect(readOptions([])).toMatchObject({ options: { url: undefined } });
  vi.stubEnv("ECHOMQ_REDIS_URL", "localhost");
  expect(readOptions([])).toEqual({ exit: 2 });
});

test.each([
  ["--jobs", "0"],
  ["--jobs", "20001"],
  ["--jobs", "1e3"],
  ["--jobs", "-5"],
  ["--jobs", "1.5"],
  ["--driver", "glide"],
  ["--url", "http://host"],
  ["--url", "host:6379"],
  ["--nonsense", ""],
  ["too", "many"],
])("%s %s is refused with 2 and names what is wrong", (option, value) => {
  expect(readOptions([option, value])).toEqual({ exit: 2 });
  expect(said.join("")).toContain(option.startsWith("--") ? option : "arguments");
});

test("help ends with 0", () => {
  expect(readOptions(["--help"])).toEqual({ exit: 0 });
  expect(said.join("")).toContain("--jobs <n>");
});
