import { startServer, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { literal } from "../../src/acl/pattern.js";
import { openDriver } from "../../src/connect/drivers.js";
import { narrowed, refusals, unneeded } from "../support/acl-narrow.js";
import { administer, makeV1, migrate, produce, type Stage, work } from "../support/acl-paths.js";
import { adminOf, driverOf, makeUser, REFUSED, recorded, setRules } from "../support/acl-user.js";

// A script's groups lie behind each other, so what it does to one counts for all: `add` and `bury` read
// jobs, and only remove what else they left.
const BEHIND = ["deps", "failures", "logs", "results"].map((kind) => `r of ~emq:{q}:v2:${kind}:*`);

// What stays on the line though this path does not show that it is used, and why.
const SPARE = {
  producer: BEHIND,
  worker: BEHIND,
  admin: [],
  // The monitor leaves out what its server counts as administration.
  migrator: ["+client|list"],
} as const;
const ROLES = Object.keys(SPARE) as (keyof typeof SPARE)[];

describe.each(["redis", "valkey"] as const)(
  "on %s no right is printed that is not used",
  (engine) => {
    test.each(ROLES)("%s", async (role) => {
      const server = await startServer({ engine });
      onTestFinished(() => server.stop());
      const { url } = server;
      const admin = adminOf(url);
      const q = uniqueQueue("least");
      const stage: Stage = { q, admin, prefixes: ["bull"] };
      const full = await driverOf({ name: "default", url, rules: [] });
      const argv = ["--queue", q, "--role", role, "--v1-prefix", "bull"];
      if (role === "migrator") {
        argv.push("--v1-queue", q);
        await makeV1(url, q);
      }
      const user = await makeUser(url, ...argv);
      const commands = await recorded(url, admin, async () => {
        const driver = await driverOf(user);
        if (role === "producer") await produce(stage, driver);
        if (role === "worker") await work(stage, driver, full);
        if (role === "admin") await administer(stage, driver, full);
        if (role === "migrator") await migrate(stage, driver);
      });
      const judged = commands.filter(([name = ""]) => !/^(auth|hello)$/i.test(name));
      expect(await refusals(admin, user.name, judged)).toEqual([]);
      const left = await unneeded(admin, user, judged);
      expect(left.map((one) => one.replaceAll(literal(q), "q"))).toEqual(SPARE[role]);
    });
  },
);

// What a producer can lack and still end its calls, and why.
const UNNOTICED = [
  // A name for people: clients go on without.
  "+client|setname",
  // Asked when what a replaced job left is buried, which the workers do, too.
  "+hexists",
  // A proof that the connection is ready: lanes go on without.
  "+ping",
  // Scripts never end over an event that could not be written.
  "+xadd",
  ...SPARE.producer,
];

test("each right a producer lacks is an error of its call", async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const { url } = server;
  const admin = adminOf(url);
  const q = uniqueQueue("lack");
  const stage: Stage = { q, admin, prefixes: ["bull"] };
  const argv = ["--queue", q, "--role", "producer", "--v1-prefix", "bull"];
  const user = await makeUser(url, ...argv);
  const unnoticed: string[] = [];
  const errors: Error[] = [];
  for (const { without, rules } of narrowed(user)) {
    await admin.flushall();
    await admin.call("SCRIPT", "FLUSH");
    await setRules(admin, user.name, rules);
    const driver = await openDriver("ioredis", user.url);
    await produce(stage, driver).then(
      () => unnoticed.push(without.replaceAll(literal(q), "q")),
      (error: Error) => errors.push(error),
    );
    await driver.close("now");
  }
  for (const { message } of errors) expect(message).toMatch(REFUSED);
  expect(unnoticed).toEqual(UNNOTICED);
});
