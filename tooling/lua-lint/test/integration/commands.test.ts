import { startServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/commands.js";

type Info = [
  name: string,
  arity: number,
  flags: string[],
  first: number,
  last: number,
  step: number,
];

// The inventory is data; the servers say whether it is true.
describe.each(["redis", "valkey"] as const)("the inventory on %s", (engine) => {
  test("has the server's key positions and flags", async () => {
    await using server = await startServer({ engine });
    const client = new Redis(server.url);
    try {
      const names = Object.keys(COMMANDS);
      const infos = (await client.call("COMMAND", "INFO", ...names)) as Info[];
      for (const [at, name] of names.entries()) {
        const [, , flags, ...keys] = infos[at] as Info;
        const { access } = COMMANDS[name] as (typeof COMMANDS)[string];
        expect({ name, keys: keys.slice(0, 3) }).toEqual({ name, keys: COMMANDS[name]?.keys });
        expect({
          name,
          write: flags.includes("write"),
          denyoom: flags.includes("denyoom"),
        }).toEqual({
          name,
          write: access !== "read",
          denyoom: access === "denyoom",
        });
        expect(flags).not.toContain("noscript");
        expect(flags).not.toContain("movablekeys");
      }
    } finally {
      client.disconnect();
    }
  });
});
