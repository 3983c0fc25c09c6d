import { execFileSync } from "node:child_process";
import { shellWord } from "@echomq/scripts/cli";
import { fenceError } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import { commandFor, commandWithoutQueue, nameLike } from "../../src/command-line.js";

const HOSTILE = [
  "orders",
  "{orders}",
  "a b",
  "it's",
  "$HOME",
  "`id`",
  "a;b&c|d>e",
  '"',
  "*?[a-z]",
  "\\",
  "!!",
  "-x",
  "~",
  "é∆🙂",
  "a\nb",
  "tab\there",
  "\u202eevil",
  "\u200b",
  "'\\n\u0007\\",
  "#x",
];

describe("commands", () => {
  test("a shell takes every word as it is, and nothing else happens", () => {
    for (const text of HOSTILE) {
      const out = execFileSync("bash", ["-c", `printf '%s\\0' ${shellWord(text)}`]).toString();
      expect(out).toBe(`${text}\0`);
    }
  });

  test("have the form of the commands at the end of a FenceError", () => {
    const names = ["orders", "a b", "it's $5", "*?[a]", "é∆🙂", "`id`", "-x"];
    for (const name of names) {
      for (const queue of [name, `{${name}}`]) {
        for (const prefix of ["bull", "{bull}", "my app", "a:b", "it's"]) {
          const probe = `${prefix}:${queue}:meta`;
          const { message } = fenceError(
            {
              action: "refuse",
              code: "V1_KEYSPACE",
              found: "bullmq:5.65.1",
              expected: "nothing",
              probe,
            },
            name,
          );
          const own = commandFor({ queue, prefix, q: name, commandLine: {} }, "plan");
          expect(message.endsWith(`: ${own}`), `${message}\n${own}`).toBe(true);
        }
      }
    }
  });

  test("name address and client when the tool was told them, never a password", () => {
    const source = { queue: "a b", prefix: "x y", q: "a b" };
    const url = "redis://h:6380/2?x=1&y='";
    expect(commandFor({ ...source, commandLine: { url, driver: "node-redis" } }, "run")).toBe(
      "npx -p @echomq/migrate -p redis echomq-migrate run --queue 'a b' --prefix 'x y' " +
        `--driver node-redis --url 'redis://h:6380/2?x=1&y='\\'''`,
    );
    const secret = { url: "rediss://me:hunter2@h:6380" };
    expect(commandWithoutQueue(secret, "discover")).toBe(
      'npx -p @echomq/migrate -p ioredis echomq-migrate discover --url "$ECHOMQ_REDIS_URL"',
    );
    expect(commandFor({ queue: "a:b", prefix: "bull", q: "ab", commandLine: {} }, "run")).toBe(
      "npx -p @echomq/migrate -p ioredis echomq-migrate run --queue a:b --as ab",
    );
  });

  test("a name that v2 refuses gets one like it", () => {
    expect(nameLike("a:b")).toBe("a-b");
    expect(nameLike("{a}{b}")).toBe("a-b");
    expect(nameLike("a\nb ")).toBe("a-b");
    expect(nameLike(":::")).toBe("queue");
    expect(nameLike("emq")).toBe("queue");
    expect(nameLike("é".repeat(200))).toHaveLength(32);
  });
});
