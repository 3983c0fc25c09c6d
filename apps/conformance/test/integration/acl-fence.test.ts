import { Queue, Worker } from "@echomq/core";
import { fenceRead } from "@echomq/scripts";
import { startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { literal } from "../../src/acl/pattern.js";
import { DRIVERS } from "../../src/connect/drivers.js";
import { adminOf, driverOf, makeUser, setRules } from "../support/acl-user.js";

const PREFIXES = ["bull", "emq"];

/** The rules without these; those of the selector that runs scripts stay. */
function without(rules: readonly string[], gone: readonly string[]): readonly string[] {
  const open = rules.findIndex((rule) => rule.startsWith("("));
  return rules.filter((rule, at) => at >= open || !gone.includes(rule));
}

describe.each(["redis", "valkey"] as const)("a refused probe on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server?.stop());

  test.each(DRIVERS)("through %s is NOPERM that names the right, never a pass", async (name) => {
    const admin = adminOf(server.url);
    const q = uniqueQueue("probe");
    const argv = ["--queue", q, "--role", "producer", "--v1-prefix", ...PREFIXES];
    const user = await makeUser(server.url, ...argv);
    const driver = await driverOf(user, name);
    const look = async (): Promise<unknown> => {
      const queue = new Queue(q, { connection: driver, v1Prefixes: PREFIXES, retryTime: 0 });
      return queue.waitUntilReady().then(
        () => "passed",
        (error: unknown) => error,
      );
    };
    expect(await look()).toBe("passed");
    const { commands } = fenceRead(q, PREFIXES);
    for (const key of new Set(commands.map((command) => String(command[1])))) {
      const pattern = literal(key);
      const rules = without(user.rules, [`~${pattern}`, `%R~${pattern}`]);
      expect(rules).toHaveLength(user.rules.length - 1);
      await setRules(admin, user.name, rules);
      expect(await look()).toMatchObject({ code: "NOPERM", message: expect.stringContaining(key) });
    }
    const meta = `bull:${q}:meta`;
    for (const command of new Set(commands.map(([word]) => String(word)))) {
      // Its answer is looked at only where a hash stands, so one does.
      if (command === "HGET") await admin.hset(meta, "version", "bullmq:5.65.1");
      await setRules(admin, user.name, without(user.rules, [`+${command.toLowerCase()}`]));
      expect(await look()).toMatchObject({
        code: "NOPERM",
        message: expect.stringContaining(`may not run ${command} on `),
      });
      await admin.del(meta);
    }
    await setRules(admin, user.name, user.rules);
    expect(await look()).toBe("passed");
    expect(await admin.keys(`*${q}*`)).toEqual([]);
  });

  test("a worker without a probe's right does not start", async () => {
    const admin = adminOf(server.url);
    const q = uniqueQueue("probe");
    const user = await makeUser(
      server.url,
      "--queue",
      q,
      "--role",
      "worker",
      "--v1-prefix",
      "bull",
    );
    const missing = literal(`bull:${q}:wait`);
    await setRules(admin, user.name, without(user.rules, [`%R~${missing}`]));
    const worker = new Worker(q, () => undefined, {
      connection: await driverOf(user),
      v1Prefixes: ["bull"],
      retryTime: 0,
    });
    const error = new Promise((resolve) => worker.on("error", resolve));
    expect(await error).toMatchObject({
      code: "NOPERM",
      message: expect.stringContaining(`bull:${q}:wait`),
    });
    await worker.close({ timeout: 0 });
    expect(await admin.keys(`*${q}*`)).toEqual([]);
  });
});
