import { describe, expect, test } from "vitest";
import { conformance } from "../support/run.js";

const acl = (...argv: string[]) => conformance(["acl", ...argv]);

test("one line on standard output, nothing else", async () => {
  const { code, out, err } = await acl("--queue", "{orders}", "--role", "worker");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^ACL SETUSER emq-orders-worker on >PASSWORD resetkeys [^\n]*\)\n$/);
  const file = await acl("--queue", "orders", "--role", "worker", "--aclfile", "--user", "w");
  expect(file.out).toBe(out.replace("ACL SETUSER emq-orders-worker", "user w"));
});

test("--json says the same in parts", async () => {
  const argv = ["--queue", "my queue", "--role", "admin", "--v1-prefix", "bull", "old"];
  const line = (await acl(...argv)).out.trimEnd();
  const report = JSON.parse((await acl(...argv, "--json")).out);
  expect(report).toMatchObject({ user: "emq-my_queue-admin", role: "admin", queue: "my queue" });
  expect(`ACL SETUSER ${report.user} ${report.rules.join(" ")}`).toBe(line);
  expect(report.keys["old:my[^!-~]queue:meta"]).toBe("r");
  expect(report.commands).toContain("time");
});

test("more rights only where they are asked for", async () => {
  const argv = ["--queue", "q", "--role", "producer"];
  const plain = (await acl(...argv)).out;
  expect(plain).not.toMatch(/\+(select|asking|cluster\|slots|client\|setinfo) /);
  const more = (await acl(...argv, "--cluster", "--database", "--server", "7.2")).out;
  for (const name of ["select", "asking", "cluster|slots", "client|setinfo"]) {
    expect(more).toContain(` +${name} `);
  }
});

describe("wrong usage ends with 2 and one sentence", () => {
  test.each([
    [[], /required option '--queue <name>' not specified/],
    [["--queue", "q"], /required option '--role <role>' not specified/],
    [["--queue", "q", "--role", "king"], /producer, worker, admin, migrator/],
    [["--queue", "a:b", "--role", "worker"], /--queue/],
    [["--queue", "q", "--role", "worker", "--user", "a b"], /--user/],
    [["--queue", "q", "--role", "worker", "--v1-prefix", ""], /--v1-prefix/],
    [["--queue", "q", "--role", "worker", "--v1-queue", "x"], /--v1-queue: only a migrator/],
    [
      ["--queue", "q", "--role", "admin", "--with", "all"],
      /events, publish, doctor, handlers, cancel, limits, dedup, jobs, letters, redrive/,
    ],
    [["--queue", "q", "--role", "worker", "--with", "letters"], /--other: letters needs/],
    [["--queue", "q", "--role", "worker", "--other", "dead"], /--other: only letters and redrive/],
    [["--queue", "q", "--role", "migrator", "--with", "doctor"], /--with: a migrator/],
    [["--queue", "q", "--role", "worker", "--server", "5"], /6\.2, 7\.0, 7\.2/],
    [["--queue", "q", "--role", "worker", "more"], /too many arguments/],
  ])("%s", async (argv, message) => {
    const { code, out, err } = await acl(...argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  });
});
