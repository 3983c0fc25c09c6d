import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { type Engine, sharedServer, startServer } from "../../src/index.js";

const engines: Engine[] = ["redis", "valkey"];

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) await sleep(20);
}

describe.each(engines)("a %s server of one test", (engine) => {
  test("answers, restarts on its port and leaves nothing behind", async () => {
    const server = await startServer({ engine, args: ["--maxmemory", "64mb"] });
    const client = new Redis(server.url, { lazyConnect: true });
    client.on("error", () => undefined);
    await client.connect();
    expect(await client.config("GET", "maxmemory")).toEqual(["maxmemory", "67108864"]);
    expect(await client.config("GET", "save")).toEqual(["save", ""]);
    const firstPid = server.pid;
    await server.restart();
    expect(server.pid).not.toBe(firstPid);
    expect(isAlive(firstPid)).toBe(false);
    expect(await client.ping()).toBe("PONG");
    client.disconnect();
    await server.stop();
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    expect(existsSync(server.config.dir)).toBe(false);
  });

  test("is the engine it says", async () => {
    const { url } = await sharedServer(engine);
    const client = new Redis(url);
    const info = await client.info("server");
    client.disconnect();
    expect(info.includes("valkey_version")).toBe(engine === "valkey");
  });
});

test("a server that cannot start says why and leaves no folder", async () => {
  await expect(startServer({ args: ["--no-such-option", "1"] })).rejects.toThrow(/did not start/);
});

test("a killed test process takes its server along", async () => {
  const program = `
    import { startServer } from "@echomq/testkit";
    const server = await startServer();
    console.log(JSON.stringify({ pid: server.pid, dir: server.config.dir }));
    setInterval(() => undefined, 1000);
  `;
  const flags = ["--conditions=@echomq/source", "--import", "tsx", "--input-type=module"];
  const child = spawn(process.execPath, [...flags, "-e", program], {
    cwd: new URL("../../../../apps/demo", import.meta.url),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const { pid, dir } = JSON.parse(String(line));
  expect(isAlive(pid)).toBe(true);
  child.kill("SIGKILL");
  await until(() => !isAlive(pid) && !existsSync(dir));
  expect(isAlive(pid)).toBe(false);
});
