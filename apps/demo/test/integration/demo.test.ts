import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const FLAGS = ["--conditions=@echomq/source", "--import", "tsx", "apps/demo/src/main.ts"];
const LONG = 150_000;

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/** Runs the demo to its end; `watch` sees its output as it grows and may send a signal. */
async function demo(
  args: readonly string[],
  watch?: (text: string, pid: number) => void,
): Promise<Ended> {
  const env = { ...process.env, ECHOMQ_REDIS_URL: "" };
  const child = spawn(process.execPath, [...FLAGS, ...args], { cwd: ROOT, env });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      watch?.(text, child.pid ?? 0);
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

function lastLine({ text }: Ended): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}

async function keysOf(url: string): Promise<string[]> {
  const client = new Redis(url);
  const keys = await client.keys("*");
  client.disconnect();
  return keys.sort();
}

const RIGHT = /^demo: 60 jobs, 60 migrated, \d+ processed on v2, 0 lost$/;

describe("the demo", () => {
  test("runs to its end on a private Redis", { timeout: LONG }, async () => {
    const ended = await demo(["--jobs", "60"]);
    expect(ended.text).toContain("V1_KEYSPACE");
    expect(ended.text).toContain("WRONGTYPE");
    expect(ended.text).toContain("MIGRATION_TOMBSTONE");
    expect(ended.text).toContain("kill -9 worker");
    expect(lastLine(ended)).toMatch(RIGHT);
    expect(ended.code).toBe(0);
    // Without a terminal nothing but plain text.
    expect(ended.text.includes("\u001b")).toBe(false);
  });

  test("runs on a given Valkey, leaves nothing there", { timeout: LONG }, async () => {
    await using server = await startServer({ engine: "valkey" });
    const ended = await demo(["--jobs", "60", "--driver", "node-redis", "--url", server.url]);
    expect(lastLine(ended)).toMatch(RIGHT);
    expect(ended.code).toBe(0);
    expect(ended.text).toMatch(/removed \d+ keys of the demo/);
    expect(await keysOf(server.url)).toEqual([]);
  });

  test("refuses a server that holds its queue, and changes nothing", {
    timeout: LONG,
  }, async () => {
    await using server = await startServer();
    const client = new Redis(server.url);
    await client.mset("bull:echomq-demo:5", "theirs", "bull:other:5", "theirs");
    client.disconnect();
    const ended = await demo(["--jobs", "60", "--url", server.url]);
    expect(ended.code).toBe(1);
    expect(ended.text).toContain("bull:echomq-demo:5");
    expect(await keysOf(server.url)).toEqual(["bull:echomq-demo:5", "bull:other:5"]);
  });

  test("a signal ends it and takes its keys away", { timeout: LONG }, async () => {
    await using server = await startServer();
    const client = new Redis(server.url);
    await client.mset("{emq}:nodes", "theirs", "bull:echomq-demo-2:meta", "theirs");
    client.disconnect();
    let sent = false;
    const ended = await demo(["--jobs", "60", "--url", server.url], (text, pid) => {
      if (sent || !text.includes("still in flight")) return;
      sent = true;
      process.kill(pid, "SIGINT");
    });
    expect(ended.code).toBe(130);
    expect(lastLine(ended)).toBe("demo: interrupted");
    expect(await keysOf(server.url)).toEqual(["bull:echomq-demo-2:meta", "{emq}:nodes"]);
  });

  test("says why a server cannot be used", { timeout: LONG }, async () => {
    const ended = await demo(["--url", "redis://127.0.0.1:1"]);
    expect(ended.code).toBe(1);
    expect(ended.text).toContain("cannot be used");
  });
});
