import { startServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { keyAccess } from "../../src/access.js";
import { COMMANDS, type Command } from "../../src/commands.js";

type Info = readonly unknown[] & { readonly 8: readonly unknown[] };

/** The server's own words for what a command does to its keys. */
function flagsOf(spec: unknown): readonly string[] {
  const list = spec as readonly unknown[];
  const at = list.findIndex((word) => String(word) === "flags");
  return (list[at + 1] as readonly string[]).map((flag) => flag.toLowerCase());
}

// Access control goes by these flags, so the table must say what they say.
describe.each(["redis", "valkey"] as const)("what a command does to its keys on %s", (engine) => {
  test("is what the server's access control looks at", async () => {
    await using server = await startServer({ engine });
    const client = new Redis(server.url);
    try {
      const names = Object.keys(COMMANDS);
      const infos = (await client.call("COMMAND", "INFO", ...names)) as Info[];
      for (const [at, name] of names.entries()) {
        const specs = (infos[at] as Info)[8].map(flagsOf);
        for (const [place, flags] of specs.entries()) {
          const write = ["insert", "update", "delete"].some((flag) => flags.includes(flag));
          // Reads only with its option GET, which no script gives.
          const read = flags.includes("access") && name !== "SET";
          const said = keyAccess(name, COMMANDS[name] as Command, place);
          expect({ name, place, ...said }).toEqual({ name, place, read, write });
        }
      }
    } finally {
      client.disconnect();
    }
  });
});
