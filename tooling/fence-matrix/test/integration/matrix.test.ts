import type { RedisDriver } from "@echomq/scripts";
import { V1_PREFIXES } from "@echomq/scripts";
import { dumpAll, type Engine, startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES, type Line, MAKERS, type Maker } from "../../src/lines.js";
import { V1Client } from "../../src/v1-client.js";
import { admin, contacts, DRIVERS, openDriver, verdict } from "../support/clients.js";

const ENGINES: readonly Engine[] = ["redis", "valkey"];
const CUSTOM = "acme";
const PREFIXES = ["bull", "{bull}", "emq", CUSTOM] as const;

/** One keyspace: who made it, where. */
interface Cell {
  readonly line: Line;
  readonly by: Maker;
  readonly prefix: string;
  readonly braced: boolean;
  readonly q: string;
  /** As v1 spells it. */
  readonly queue: string;
}

const CELLS: readonly Cell[] = LINES.flatMap((line) =>
  MAKERS.flatMap((by) =>
    PREFIXES.flatMap((prefix) =>
      [false, true].map((braced) => {
        const q = `${by} of ${line.version} at ${prefix.replace(/[{}]/g, "-")} ${braced}`;
        return { line, by, prefix, braced, q, queue: braced ? `{${q}}` : q };
      }),
    ),
  ),
);

/** What the fence finds there: `meta` where a line leaves one, else the key that is there. */
function expected({ line, by, prefix, queue }: Cell): string {
  const at = (unit: string): string => `at ${prefix}:${queue}:${unit}`;
  const noVersion = `V1_KEYSPACE a hash without a version ${at("meta")}`;
  if (by === "queue") {
    if (line.version === "5.0.0") return noVersion;
    return `V1_KEYSPACE bullmq:${line.version} ${at("meta")}`;
  }
  if (by === "flow") {
    return line.version === "3.16.2" ? `V1_KEYSPACE v1 keys, no meta ${at("id")}` : noVersion;
  }
  const late = line.version === "5.65.1" || line.version === "6.7.0";
  return late ? noVersion : `V1_KEYSPACE v1 keys, no meta ${at("stalled-check")}`;
}

describe.each(ENGINES)("keyspaces of real v1 clients on %s", (engine) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ engine });
    await Promise.all(LINES.map((line) => makeAll(line, server.port)));
    // A stalled check ends after half a minute; the test may take longer on a slow machine.
    const client = admin(server.url);
    for (const key of await client.keys("*:stalled-check")) await client.persist(key);
    client.disconnect();
  });

  afterAll(() => server.stop());

  describe.each(DRIVERS)("through %s", (name) => {
    let driver: RedisDriver;

    beforeAll(async () => {
      driver = await openDriver(name, server.url);
    });

    afterAll(() => driver.close());

    test.each(LINES)(
      "every v2 contact with $version is refused and writes nothing",
      async (line) => {
        const cells = CELLS.filter((cell) => cell.line === line);
        const before = await dumpAll(server.url);
        for (const cell of cells) {
          const listed = cell.prefix === CUSTOM ? [...V1_PREFIXES, CUSTOM] : undefined;
          const thrown = await contacts(cell.q, driver, listed);
          const said = Object.entries(thrown).map(([who, error]) => `${who}: ${verdict(error)}`);
          const want = expected(cell);
          expect(said).toEqual(Object.keys(thrown).map((who) => `${who}: ${want}`));
          expectHelp(thrown.add.message, cell);
        }
        expect(cells).toHaveLength(MAKERS.length * PREFIXES.length * 2);
        expect(await dumpAll(server.url)).toEqual(before);
      },
    );
  });
});

/** The message names the finding, the key, and a command that looks where the jobs are. */
function expectHelp(message: string, { prefix, queue }: Cell): void {
  expect(message).toContain(`at key ${prefix}:${queue}:`);
  const word = (text: string): string => (/[ {}]/.test(text) ? `'${text}'` : text);
  const at = prefix === "bull" ? "" : ` --prefix ${word(prefix)}`;
  expect(message).toContain(`plan --queue ${word(queue)}${at}`);
}

async function makeAll(line: Line, port: number): Promise<void> {
  await using client = await V1Client.start(line, port);
  for (const { by, prefix, queue } of CELLS.filter((cell) => cell.line === line)) {
    await client.make(by, { prefix, queue });
  }
}
