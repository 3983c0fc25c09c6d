import { type ProgramEnd, startServer, type TestServer, uniqueQueue } from "@echomq/testkit";
import { Worker } from "bullmq";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runMain, startCli } from "../support/cli.js";
import { type Bench, benchAt } from "../support/servers.js";
import { cloneQueue, v1State, v2State } from "../support/state.js";
import { connectionOf, makeV1, withQueue } from "../support/v1.js";

/** Enough for every phase to be met, one job a call. */
const WAITING = 2_500;

describe("Ctrl-C", { timeout: 120_000 }, () => {
  const source = uniqueQueue("source");
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer();
    await makeV1({ url: server.url, queue: source, waiting: WAITING });
  });

  afterAll(() => server.stop());

  const at = (queue: string): string[] => ["--url", server.url, "--queue", queue];

  /** Starts a command and interrupts it once `look` says that it has come so far. */
  async function interrupt(
    command: string,
    queue: string,
    look: () => Promise<boolean>,
    signal: NodeJS.Signals = "SIGINT",
  ): Promise<ProgramEnd> {
    const run = startCli(command, ...at(queue), "--batch", "1");
    let ended = false;
    void run.done.then(() => {
      ended = true;
    });
    while (!ended && !(await look())) {
      // As fast as the server answers.
    }
    run.process.kill(signal);
    return run.done;
  }

  async function fresh(bench: Bench): Promise<string> {
    const queue = uniqueQueue("stopped");
    await cloneQueue(bench.client, source, queue);
    return queue;
  }

  const stampEnds = (bench: Bench, queue: string, phase: string) => async (): Promise<boolean> =>
    (await bench.client.get(`emq:{${queue}}:meta`))?.endsWith(`:${phase}`) ?? false;

  /** What a person reads: that it stops, where, what it leaves, and the command that goes on. */
  function expectSaid(end: ProgramEnd, phase: string, command: string, signal = "SIGINT"): void {
    expect(end).toMatchObject({ signal, status: null });
    expect(end.stderr).toContain("Stopping after the step under way.");
    expect(end.stderr).toContain(`ABORTED: Stopped in ${phase}.`);
    expect(end.stderr).toContain(`echomq-migrate ${command} --queue `);
    expect(end.stderr).not.toMatch(/^ +at /m);
  }

  test("in each phase of run: it says so, and the same command goes on to the same end", async () => {
    const bench = await benchAt(server.url);
    const whole = await fresh(bench);
    await (await bench.migration({ queue: whole })).runAll();
    const queue = await fresh(bench);
    for (const phase of ["copy", "verify"]) {
      const end = await interrupt("run", queue, stampEnds(bench, queue, phase));
      expectSaid(end, phase, "run");
      expect(end.stderr).toContain("The queue stays closed for v1 and v2 clients until");
      const { stdout } = await runMain("status", ...at(queue));
      expect(stdout).toContain("closed for v1 and v2 clients; ");
    }
    expect((await runMain("run", ...at(queue))).status).toBe(0);
    expect(await v2State(bench.client, queue)).toEqual(await v2State(bench.client, whole));
  });

  test("in drain: nothing was changed", async () => {
    const bench = await benchAt(server.url);
    const queue = uniqueQueue("held");
    await withQueue({ url: server.url, queue }, (v1) => v1.add("a", {}));
    const worker = new Worker(queue, () => new Promise(() => undefined), {
      connection: connectionOf(server.url),
    });
    onTestFinished(() => worker.close(true));
    await new Promise<void>((resolve) => worker.on("active", () => resolve()));
    const connected = async (): Promise<boolean> =>
      /name=echomq:main .* cmd=llen /.test(String(await bench.client.client("LIST")));
    const end = await interrupt("run", queue, connected, "SIGTERM");
    expectSaid(end, "drain", "run", "SIGTERM");
    expect(end.stderr).toContain("Nothing was changed.");
    expect(await bench.client.keys(`*emq*${queue}*`)).toEqual([]);
  });

  test("in rollback: v1 comes back by the same command", async () => {
    const bench = await benchAt(server.url);
    const queue = await fresh(bench);
    expect((await runMain("run", ...at(queue))).status).toBe(0);
    const end = await interrupt("rollback", queue, stampEnds(bench, queue, "rollback"));
    expectSaid(end, "rollback", "rollback");
    const refused = await runMain("run", ...at(queue));
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stderr).toContain("ROLLING_BACK: ");
    expect((await runMain("rollback", ...at(queue))).status).toBe(0);
    expect(await v1State(bench.client, queue)).toEqual(await v1State(bench.client, source));
  });

  test("in purge and in remove: v2 is whole, and nothing else goes on than what was begun", async () => {
    const bench = await benchAt(server.url);
    const queue = await fresh(bench);
    expect((await runMain("run", ...at(queue))).status).toBe(0);
    const before = await v2State(bench.client, queue);
    const migrated = async (): Promise<boolean> =>
      (await bench.client.hget(`emq:{${queue}}:v2:meta`, "migrated"))?.endsWith(" purging") ??
      false;
    const purge = startCli("commit", "--purge-v1", ...at(queue), "--batch", "1");
    while (!(await migrated())) {
      // As fast as the server answers.
    }
    purge.process.kill("SIGINT");
    expectSaid(await purge.done, "purge", "commit --purge-v1");
    const status = await runMain("status", ...at(queue));
    expect(status.stdout).toContain("v1's keys are being removed; there is no way back");
    expect(status.stdout).toContain("echomq-migrate commit --purge-v1 --queue ");
    expect((await runMain("commit", "--purge-v1", ...at(queue))).status).toBe(0);
    expect(await v2State(bench.client, queue)).toEqual(before);
    expect(await bench.client.keys(`bull:${queue}:*`)).toEqual([`bull:${queue}:meta`]);

    const remove = startCli("remove", "--yes", ...at(queue), "--batch", "1");
    while (!(await stampEnds(bench, queue, "remove")())) {
      // As fast as the server answers.
    }
    remove.process.kill("SIGINT");
    expectSaid(await remove.done, "remove", "remove --yes");
    for (const command of ["run", "fence", "copy", "verify", "commit", "rollback"]) {
      const { status: code, stderr } = await runMain(command, ...at(queue));
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stderr, command).toContain("echomq-migrate remove --yes --queue ");
    }
    expect((await runMain("plan", ...at(queue))).stdout).toContain(" remove --yes ");
    expect((await runMain("remove", "--yes", ...at(queue))).status).toBe(0);
    expect(await bench.client.keys(`emq:{${queue}}:*`)).toEqual([]);
  });

  test("a second one ends the process at once, in any state", async () => {
    const bench = await benchAt(server.url);
    const queue = await fresh(bench);
    const run = startCli("run", ...at(queue), "--batch", "1");
    while (!(await stampEnds(bench, queue, "copy")())) {
      // As fast as the server answers.
    }
    // The server does not answer now, so the step under way does not end.
    await bench.client.call("CLIENT", "PAUSE", "4000", "ALL");
    let said = "";
    run.process.stderr?.on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("Stopping after")) run.process.kill("SIGINT");
    });
    run.process.kill("SIGINT");
    expect(await run.done).toMatchObject({ status: null, signal: "SIGINT" });
    await bench.client.call("CLIENT", "UNPAUSE");
    expect((await runMain("run", ...at(queue))).status).toBe(0);
  });
});
