import { uniqueQueue } from "@echomq/testkit";
import { Worker } from "bullmq";
import { describe, expect, test } from "vitest";
import { runCli, runMain, runMainAt } from "../support/cli.js";
import { openBench } from "../support/servers.js";
import { connectionOf, makeV1, withQueue } from "../support/v1.js";

describe("echomq-migrate", () => {
  test("walks a queue with one JSON document per phase and exit status 0", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("cli");
    await makeV1({ url: bench.url, queue });
    const at = ["--url", bench.url, "--queue", queue, "--json"];
    // One phase in a process of its own, the rest in this one.
    const plan = await runCli("plan", ...at);
    expect(plan).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(plan.stdout)).toMatchObject({ phase: "plan", ok: true, blockers: [] });
    const run = await runMain("run", "--driver", "node-redis", ...at);
    expect(run).toMatchObject({ status: 0, stderr: "" });
    const phases = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).phase);
    expect(phases).toEqual(["drain", "plan", "fence", "copy", "verify", "commit"]);
    const status = await runMain("status", ...at);
    expect(JSON.parse(status.stdout)).toMatchObject({ state: "done", at: "committed" });
    const again = await runMain("run", ...at);
    expect(JSON.parse(again.stdout)).toMatchObject({ phase: "commit", already: true });
    expect((await runMain("commit", "--purge-v1", ...at)).status).toBe(0);
    const removed = await runMain("remove", "--yes", "--url", bench.url, "--queue", queue);
    expect(removed.stdout).toMatch(/ keys of emq:\{\S+\} deleted$/m);
    expect(await bench.client.keys(`emq:{${queue}}:*`)).toEqual([]);
  });

  test("says for people what it found, without a terminal and without colours", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("words");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    const { status, stdout } = await runMain("discover", "--url", bench.url);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`bull +${queue} +v1 +bullmq:5\\.65\\.1 +1 +0 +0`));
    expect(stdout).not.toContain("\u001b");
    expect((await runMain("runbook")).stdout).toContain(
      "Jobs that are active hold v1 locks and must finish on v1 workers first.",
    );
  });

  test("exit status 1 for a refusal, 2 for wrong use, 3 without a server, 4 for a difference", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("exits");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    const at = ["--url", bench.url, "--queue", queue];
    const refused = await runMain("copy", "--json", ...at);
    expect(refused.status).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      phase: "copy",
      error: {
        code: "MIGRATION_REFUSED",
        reason: "NOT_FENCED",
        next: `npx -p @echomq/migrate -p ioredis echomq-migrate fence --queue ${queue} --url ${bench.url}`,
      },
    });
    for (const args of [
      [],
      ["nothing"],
      ["plan", ...at, "more"],
      ["plan", "--queue"],
      ["plan", ...at, "--unknown"],
      ["plan", "--queue", queue, "--url", "redis://h:99999"],
      ["plan", "--queue", queue, "--url", "redis://"],
      ["drain", ...at, "--deadline", "-1"],
      ["discover", "--prefixes", ","],
      // Told without a server too.
      ["plan", "--queue", queue, "--url", "redis://127.0.0.1:1", "--run", "!"],
      ["plan", "--queue", queue, "--url", "redis://127.0.0.1:1", "--prefix", ""],
      ["plan", "--url", bench.url],
      ["plan", ...at, "--batch", "x"],
      ["plan", ...at, "--batch", "999"],
      ["plan", ...at, "--driver", "glide"],
      ["plan", "--url", "http://x", "--queue", queue],
      ["plan", ...at, "--as", "{a"],
    ]) {
      const { status, stdout, stderr } = await runMain(...args);
      expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
      expect(stderr, args.join(" ")).toMatch(/^[^\n]{10,}\n$/);
    }
    expect((await runMain("plan", "--url", "redis://127.0.0.1:1", "--queue", queue)).status).toBe(
      3,
    );
    expect((await runMain("fence", ...at)).status).toBe(0);
    expect((await runMain("copy", ...at)).status).toBe(0);
    await bench.client.hset(`emq:{${queue}}:v2:job:1`, "data", "other");
    expect((await runMain("verify", ...at)).status).toBe(4);
    expect((await runMain("rollback", ...at)).status).toBe(0);
  });

  test("colours on a terminal alone, and not with NO_COLOR or --no-color", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("colour");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    const at = ["plan", "--url", bench.url, "--queue", queue];
    const shown = async (tty: boolean, env: Record<string, string>, ...more: string[]) =>
      (await runMainAt({ tty, env }, ...at, ...more)).stdout.includes("\u001b");
    expect(await shown(true, {})).toBe(true);
    expect(await shown(true, { NO_COLOR: "1" })).toBe(false);
    expect(await shown(true, {}, "--no-color")).toBe(false);
    expect(await shown(true, {}, "--json")).toBe(false);
    expect(await shown(false, {})).toBe(false);
  });

  test("a refusal in the middle of run is the last document, after those of the phases done", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("documents");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}, { jobId: "x".repeat(513) }));
    const { status, stdout } = await runMain("run", "--url", bench.url, "--queue", queue, "--json");
    expect(status).toBe(1);
    const documents = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents.map(({ phase }) => phase)).toEqual(["drain", "plan", "fence"]);
    expect(documents.at(-1)).toMatchObject({ error: { reason: "IDS" } });
  });

  test("a plan with something in the way ends with status 1", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("blocked");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    const worker = new Worker(queue, () => new Promise(() => undefined), {
      connection: connectionOf(bench.url),
    });
    await new Promise<void>((resolve) => worker.on("active", () => resolve()));
    const { status, stdout } = await runMain("plan", "--url", bench.url, "--queue", queue);
    await worker.close(true);
    expect(status).toBe(1);
    expect(stdout).toContain("ACTIVE");
  });
});
