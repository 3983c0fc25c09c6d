import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let empty: string;

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), "echomq-source-"));
});

afterAll(() => rm(empty, { recursive: true, force: true }));

/** Starts a server in a process that finds no program on PATH and none in the cache. */
async function start(env: Record<string, string>): Promise<string> {
  const program = `
    import { startServer } from "@echomq/testkit";
    const one = await startServer().catch((error) => error);
    console.log(one instanceof Error ? one.message : "started " + one.version);
    if (!(one instanceof Error)) await one.stop();
  `;
  const flags = ["--conditions=@echomq/source", "--import", "tsx", "--input-type=module"];
  const child = spawn(process.execPath, [...flags, "-e", program], {
    cwd: new URL("../../../../apps/demo", import.meta.url),
    env: { HOME: empty, PATH: empty, ECHOMQ_CACHE: empty, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await once(child, "close");
  return text;
}

test("without a program and without containers one sentence says what to install", async () => {
  const said = await start({ ECHOMQ_CONTAINERS: "off" });
  expect(said).toMatch(/^Install Redis 7\.0 or newer .*ECHOMQ_REDIS_SERVER.*\n$/);
});

test("a variable that names no server is told, not passed over", async () => {
  const said = await start({ ECHOMQ_REDIS_SERVER: join(empty, "redis-server") });
  expect(said).toMatch(/^ECHOMQ_REDIS_SERVER is .*, which is no Redis 7\.0 or newer\.\n$/);
});
