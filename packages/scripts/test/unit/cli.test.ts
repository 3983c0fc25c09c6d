import { execFileSync } from "node:child_process";
import { ServerError, ValidationError } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import {
  addressFault,
  addressWord,
  connectionTrouble,
  defaultAddress,
  shellWord,
  shownAddress,
  table,
  visible,
} from "../../src/cli/index.js";
import { DriverFault } from "../../src/index.js";

describe("addresses", () => {
  test.each([
    "redis://h",
    "redis://h:1",
    "redis://h:1/",
    "rediss://me:pw@h:1/15",
    "redis://[::1]:6379/0",
    "redis://h?db=3&family=6",
  ])("%s is one", (url) => {
    expect(addressFault(url)).toBeNull();
  });

  test.each([
    "",
    "h:1",
    "http://h",
    "redis://",
    "redis:///1",
    "redis://h:99999",
    "redis://h/abc",
    "redis://h/1/2",
    "redis://h?db=x",
    "redis://h h",
    "redis://me:hunter2@h:1/x",
  ])("%j is none, and what was given is not repeated", (url) => {
    expect(addressFault(url)).toMatch(/^expected redis:\/\/host:port or rediss:/);
    expect(addressFault(url)).not.toContain("hunter2");
  });

  test("are shown without who asks", () => {
    expect(shownAddress("redis://me:hunter2@h")).toBe("redis://h:6379");
    expect(shownAddress("rediss://:hunter2@[::1]:1/7")).toBe("rediss://[::1]:1/7");
    expect(shownAddress("redis://h:1/0")).toBe("redis://h:1");
    expect(shownAddress("hunter2")).toBe("the server");
    for (const secret of ["redis://me:x@h", "redis://:x@h", "redis://h?password=x"]) {
      expect(addressWord(secret)).toBe('"$ECHOMQ_REDIS_URL"');
    }
    expect(addressWord("redis://me@h:1")).toBe("redis://me@h:1");
    expect(addressWord("redis://[::1]:1")).toBe("'redis://[::1]:1'");
  });

  test("come from the environment, else are this machine's", () => {
    expect(defaultAddress({})).toBe("redis://127.0.0.1:6379");
    expect(defaultAddress({ ECHOMQ_REDIS_URL: "" })).toBe("redis://127.0.0.1:6379");
    expect(defaultAddress({ ECHOMQ_REDIS_URL: "redis://h" })).toBe("redis://h");
  });
});

describe("trouble", () => {
  const URL = "redis://me:hunter2@h:1";

  test("with the server is told from every other failure", () => {
    const own = new ValidationError({ option: "queue", reason: "must not be empty" });
    expect(connectionTrouble(own, URL)).toBeNull();
    expect(connectionTrouble(new TypeError("x"), URL)).toBeNull();
    expect(connectionTrouble(null, URL)).toBeNull();
    const lost = new DriverFault("offline", "no connection to Redis within 3000 ms: odd");
    expect(connectionTrouble(lost, URL)).toEqual({
      code: "CONNECTION_LOST",
      message: "trouble with redis://h:1: odd",
    });
    const late = new ServerError({ code: "TIMEOUT", detail: "no reply within 5000 ms" });
    expect(connectionTrouble(late, URL)).toMatchObject({ code: "TIMEOUT" });
  });

  test.each([
    ["offline", "connect ECONNREFUSED 1.2.3.4:1", "CONNECTION_LOST", "nothing listens at"],
    ["offline", "getaddrinfo ENOTFOUND h", "CONNECTION_LOST", "is not known here"],
    ["offline", "connect EHOSTUNREACH h", "CONNECTION_LOST", "cannot be reached from here"],
    ["offline", "no answer within 3000 ms", "CONNECTION_LOST", "whether TLS is meant"],
    ["offline", 'Protocol error, got "H"', "CONNECTION_LOST", "not answer as a Redis server"],
    ["reply", "WRONGPASS invalid username-password pair", "NOAUTH", "refuses this user name"],
    ["reply", "NOAUTH Authentication required.", "NOAUTH", "wants a password"],
    ["reply", "ERR DB index is out of range", "CONFIG", "no such database"],
    ["reply", "NOPERM User x has no permissions", "NOPERM", "has no right to this"],
  ] as const)("%s %s", (fault, text, code, said) => {
    const trouble = connectionTrouble(new DriverFault(fault, text), URL);
    expect(trouble).toMatchObject({ code, message: expect.stringContaining(said) });
    expect(trouble?.message).toContain("redis://h:1");
    expect(trouble?.message).not.toMatch(/hunter2|\n/);
  });
});

describe("text", () => {
  test("numbers of a table stand to the right, and nothing acts upon the terminal", () => {
    const rows = [
      ["state", "jobs"],
      ["wait", 5],
      ["a\u001b[31m", 100],
    ];
    expect(table(rows).split("\n")).toEqual([
      "  state        jobs",
      "  wait            5",
      "  a\\u001b[31m   100",
    ]);
    expect(table([["one"]])).toBe("  one");
    expect(visible('a "b" \\ é🙂\n\u202e')).toBe('a "b" \\ é🙂\\n\\u202e');
  });

  test("a shell takes every word as it is", () => {
    for (const text of ["a b", "it's", "$HOME", "`id`", "\\", "a\nb", "\u202e'\\", "é∆🙂", "-x"]) {
      const out = execFileSync("bash", ["-c", `printf '%s\\0' ${shellWord(text)}`]).toString();
      expect(out).toBe(`${text}\0`);
    }
  });
});
