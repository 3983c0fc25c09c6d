import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findServer, installAdvice } from "../../servers.mjs";

let dir: string;
let before: NodeJS.ProcessEnv;

beforeEach(async () => {
  before = { ...process.env };
  dir = await mkdtemp(join(tmpdir(), "echomq-path-test-"));
  process.env.PATH = `${dir}:/bin`;
  process.env.ECHOMQ_CACHE = join(dir, "cache");
  delete process.env.ECHOMQ_REDIS_SERVER;
  delete process.env.ECHOMQ_VALKEY_SERVER;
});

afterEach(async () => {
  process.env = before;
  await rm(dir, { recursive: true, force: true });
});

async function program(name: string, answer: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, `#!/bin/sh\necho '${answer}'\n`);
  await chmod(path, 0o755);
  return path;
}

test("a server on PATH serves", async () => {
  const command = await program("redis-server", "Redis server v=7.4.1 sha=0");
  expect(await findServer("redis")).toEqual({ command, env: {}, version: "7.4.1" });
});

test("one that is too old, or another engine by that name, does not", async () => {
  await program("redis-server", "Redis server v=6.0.16 sha=0");
  expect(await findServer("redis")).toBeUndefined();
  await program("redis-server", "Valkey server v=8.0.1 sha=0");
  expect(await findServer("redis")).toBeUndefined();
});

test("the variable wins over PATH, and a bad one gets a sentence", async () => {
  await program("valkey-server", "Valkey server v=8.0.1 sha=0");
  process.env.ECHOMQ_VALKEY_SERVER = await program("mine", "Valkey server v=9.0.0 sha=0");
  expect((await findServer("valkey"))?.version).toBe("9.0.0");
  process.env.ECHOMQ_VALKEY_SERVER = "/no/such/server";
  await expect(findServer("valkey")).rejects.toThrow(
    "ECHOMQ_VALKEY_SERVER is /no/such/server, which is no Valkey 7.2 or newer.",
  );
});

test("the advice names the program and the variable", () => {
  expect(installAdvice("redis")).toBe(
    "Install Redis 7.0 or newer so that redis-server is on PATH, or set ECHOMQ_REDIS_SERVER to its path.",
  );
});
