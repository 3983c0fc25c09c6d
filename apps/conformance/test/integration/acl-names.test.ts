import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue, Worker } from "@echomq/core";
import { type Engine, startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { aclLine, adminOf, driverOf, makeUser } from "../support/acl-user.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];

/** Names, and one that a careless pattern would match too. */
const NAMES: readonly (readonly [name: string, other: string])[] = [
  ["a b", "a_b"],
  ["a  b", "axxb"],
  ["a*", "ab"],
  ["a?c", "abc"],
  ["[abc]", "b"],
  ["[^a]", "b"],
  ["a\\b", "ab"],
  ["a-c", "abc"],
  ["^", "x"],
  [`say "hi"`, "say xhix"],
  ["it's", "itxs"],
  ["f(x)", "f(xx"],
  ["(", "x"],
  ["größe 🙂", "größex🙂"],
  ["~%R~+@all#>", "~%R~+@allx>"],
];

describe.each(ENGINES)("hostile queue names on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server?.stop());

  test.each(NAMES)("%j works under its users, and %j is not theirs", async (q, other) => {
    const admin = adminOf(server.url);
    const user = (role: string) =>
      makeUser(server.url, "--queue", q, "--role", role, "--v1-prefix", "bull");
    const producer = await user("producer");
    const queue = new Queue(q, {
      connection: await driverOf(producer),
      v1Prefixes: ["bull"],
      retryTime: 0,
    });
    onTestFinished(() => queue.close());
    await queue.add("x", {}, { jobId: "1" });
    const worker = await user("worker");
    const runner = new Worker(q, () => "done", {
      connection: await driverOf(worker),
      v1Prefixes: ["bull"],
      retryTime: 0,
    });
    onTestFinished(() => runner.close());
    const ended = new Promise((resolve, reject) => {
      runner.on("completed", resolve);
      runner.on("error", reject);
    });
    await ended;
    const migrator = await user("migrator");
    for (const { name } of [producer, worker, migrator]) {
      for (const key of [
        `emq:{${other}}:meta`,
        `emq:{${other}}:v2:job:1`,
        `{emq}:migration:${other}`,
      ]) {
        expect(String(await admin.call("ACL", "DRYRUN", name, "GET", key))).toMatch(
          /no permissions|NOPERM/,
        );
      }
      const own = await admin.call("ACL", "DRYRUN", name, "GET", `{emq}:migration:${q}`);
      expect(String(own)).toBe("OK");
    }
    const journal = `{emq}:migration:${q}`;
    const run = ["EVALSHA", "0".repeat(40), "1", journal];
    expect(String(await admin.call("ACL", "DRYRUN", migrator.name, ...run))).toBe("OK");
  });

  test("the lines stand in an aclfile, and come back out of one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "echomq-acl-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "users.acl");
    const lines = ["user default on nopass sanitize-payload ~* &* +@all"];
    for (const [at, [q]] of NAMES.entries()) {
      for (const role of ["producer", "worker", "admin", "migrator"]) {
        const argv = ["--queue", q, "--role", role, "--user", `${role}-${at}`];
        lines.push(await aclLine(...argv, "--v1-prefix", "bull", "--aclfile"));
      }
    }
    await writeFile(file, `${lines.join("\n")}\n`);
    await using own = await startServer({ engine, args: ["--aclfile", file] });
    const admin = adminOf(own.url);
    const check = async (): Promise<void> => {
      for (const [at, [q, other]] of NAMES.entries()) {
        const dry = async (...command: string[]): Promise<string> =>
          String(await admin.call("ACL", "DRYRUN", `worker-${at}`, ...command));
        expect(await dry("RPOP", `emq:{${q}}:v2:wait`)).toBe("OK");
        expect(await dry("EVAL", "return 1", "1", `emq:{${q}}:v2:wait`)).toBe("OK");
        expect(await dry("RPOP", `emq:{${other}}:v2:wait`)).not.toBe("OK");
        expect(await dry("EVAL", "return 1", "1", `emq:{${other}}:v2:wait`)).not.toBe("OK");
      }
    };
    await check();
    await admin.call("ACL", "SAVE");
    await admin.call("ACL", "LOAD");
    await check();
  });
});
