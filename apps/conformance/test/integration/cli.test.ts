import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { dumpAll, freePort, startServer, type TestServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { conformance } from "../support/run.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const FLAGS = ["--conditions=@echomq/source", "--import", "tsx", MAIN];

async function server(): Promise<TestServer> {
  const started = await startServer();
  onTestFinished(() => started.stop());
  return started;
}

test("without an address a private server is used, and the table is readable on a pipe", async () => {
  const { code, out, err } = await conformance([]);
  expect(err).toBe("");
  expect(code).toBe(0);
  expect(out).not.toContain("\u001b");
  const lines = out.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^scenario +title +result +detail$/);
  expect(lines).toContainEqual(expect.stringMatching(/^script\.flush .* ok .*SCRIPT FLUSH/));
  expect(lines.at(-3)).toMatch(/^engine {3}redis \d+\.\d+\.\d+, standalone$/);
  expect(lines.at(-2)).toBe("driver   ioredis");
  expect(lines.at(-1)).toMatch(/^conformance: (\d+) scenarios, \1 ok, 0 failed, 0 refused$/);
});

test("--json writes one document and nothing else", async () => {
  const { url } = await server();
  const { code, out, err } = await conformance(["--json", "--driver", "node-redis"], {
    env: { ECHOMQ_REDIS_URL: url },
  });
  expect(err).toBe("");
  expect(code).toBe(0);
  const report = JSON.parse(out);
  expect(Object.keys(report)).toEqual(["engine", "driver", "scenarios"]);
  expect(report.driver).toBe("node-redis");
  expect(report.engine).toMatchObject({ name: "redis", mode: "standalone" });
  for (const row of report.scenarios) {
    expect(Object.keys(row)).toEqual(["id", "title", "ok", "detail"]);
    expect(row.ok).toBe(true);
    expect(row.detail).not.toBe("");
  }
});

test("a failure ends with 1, and the row says what was seen", async () => {
  const { url } = await server();
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  await redis.set("{emq}:version", "somebody-else");
  const { code, out } = await conformance(["--url", url, "--json"]);
  expect(code).toBe(1);
  const [row] = JSON.parse(out).scenarios;
  expect(row).toMatchObject({ id: "roundtrip.completed", ok: false });
  expect(row.detail).toContain("{emq}:version");
  expect([...(await dumpAll(url)).keys()]).toEqual(["{emq}:version"]);
});

test("--queue names the queues, --keep leaves them, and a name in use is not touched", async () => {
  const { url } = await server();
  const first = await conformance(["--url", url, "--queue", "{mine}", "--keep", "--json"]);
  expect(first.code).toBe(0);
  expect(first.err).toContain("kept");
  const kept = await dumpAll(url);
  expect(kept.has("emq:{mine}:meta")).toBe(true);
  const second = await conformance(["--url", url, "--queue", "mine"]);
  expect(second.code).toBe(2);
  expect(second.err).toContain("exists already");
  expect(await dumpAll(url)).toEqual(kept);
});

test("colours and width follow the terminal, NO_COLOR and --no-color", async () => {
  const { url } = await server();
  const wide = await conformance(["--url", url], { columns: 120 });
  expect(wide.out).toContain("\u001b[32mok");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  const plain = wide.out.replaceAll(/\u001b\[\d+m/g, "");
  expect(Math.max(...plain.split("\n").map((line) => line.length))).toBeLessThanOrEqual(140);
  const env = { NO_COLOR: "1" };
  expect((await conformance(["--url", url], { columns: 200, env })).out).not.toContain("\u001b");
  const off = await conformance(["--url", url, "--no-color"], { columns: 60 });
  expect(off.out).not.toContain("\u001b");
});

describe("wrong usage ends with 2 and one sentence", () => {
  test.each([
    [["--nonsense"], /unknown option '--nonsense'/],
    [["--driver", "jedis"], /Allowed choices are ioredis, node-redis/],
    [["--url", "http://localhost"], /--url: must be a redis:\/\//],
    [["--url", "redis://"], /--url: must be a redis:\/\//],
    [["--keep"], /--keep needs --url/],
    [["extra"], /too many arguments/],
    [["--queue", "emq"], /--queue/],
    [["--queue", "a:b"], /--queue/],
    [["--queue", "x".repeat(120)], /--queue: must be at most 110 bytes/],
  ])("%s", async (argv, message) => {
    const { code, out, err } = await conformance(argv);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(message);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("trouble with the connection ends with 3", () => {
  test.each(["ioredis", "node-redis"])("nobody listens: %s", async (driver) => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const { code, out, err } = await conformance(["--url", url, "--driver", driver, "--json"]);
    expect(code).toBe(3);
    expect(out).toBe("");
    expect(err).toMatch(/^conformance: .*ECONNREFUSED/);
  });

  test("a wrong password", async () => {
    const { url } = await server();
    const { code, err } = await conformance(["--url", url.replace("//", "//:wrong@")]);
    expect(code).toBe(3);
    expect(err).toMatch(/WRONGPASS|AUTH/);
  });
});

describe.each(["SIGINT", "SIGTERM"] as const)("%s", (signal) => {
  test("ends the run and leaves nothing", async () => {
    const { url } = await server();
    const redis = new Redis(url);
    onTestFinished(() => redis.disconnect());
    await redis.set("bull:orders:id", "4");
    const before = await dumpAll(url);
    const users = await redis.acl("LIST");
    const child = spawn(process.execPath, [...FLAGS, "--url", url, "--strict"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    const ended = once(child, "close");
    await expect
      .poll(async () => (await dumpAll(url, "emq:*")).size, { timeout: 20_000, interval: 5 })
      .toBeGreaterThan(3);
    child.kill(signal);
    expect(await ended).toEqual([130, null]);
    expect(out).toBe("");
    expect(await dumpAll(url)).toEqual(before);
    expect(await redis.acl("LIST")).toEqual(users);
  });
});

test("a server that dies during the run is trouble with the connection", async () => {
  const own = await server();
  const watching = (async () => {
    await expect
      .poll(async () => (await dumpAll(own.url, "emq:*")).size, { timeout: 20_000, interval: 5 })
      .toBeGreaterThan(3);
    await own.kill();
  })();
  const { code, out, err } = await conformance(["--url", own.url, "--json"]);
  await watching;
  expect(code).toBe(3);
  expect(out).toBe("");
  expect(err).toContain("went away");
}, 60_000);
