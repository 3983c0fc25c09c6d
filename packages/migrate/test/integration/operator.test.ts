import { startCluster, startProxy, startServer, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli, runMain, runMainAt, startCli } from "../support/cli.js";
import { plant } from "../support/seed.js";
import { type Bench, benchAt, openBench } from "../support/servers.js";
import { makeV1, withQueue } from "../support/v1.js";

/** What a terminal acts upon, but for the end of a line. */
const ACTING = /(?!\n)[\p{Cc}\p{Cf}]/u;

/** Commands that read or walk a queue from v1 to its removal, in an order that succeeds. */
const LIFE = [
  "discover",
  "plan",
  "drain",
  "status",
  "fence",
  "copy",
  "status",
  "verify",
  "repair",
  "commit",
  "status",
  "rollback",
  "status",
  "run",
  "run",
  "commit --purge-v1",
  "status",
  "remove",
  "remove --yes",
  "status",
] as const;

/** A v1 queue that has what a plan, a copy and a verification have to tell. */
async function oddQueue(bench: Bench): Promise<string> {
  const queue = uniqueQueue("odd");
  const job = (id: string, state: "wait" | "completed" | "failed") =>
    ({ id, state, score: 5, priority: 0, fields: {}, logs: ["a line"] }) as const;
  await plant(bench.client, `bull:${queue}:`, {
    jobs: [job("1", "wait"), job("2", "completed"), job("2", "failed")],
    meta: { version: "bullmq:5.65.1" },
    dangling: [{ id: "gone", state: "failed", score: 1 }],
    dedups: [{ id: "once", job: "1", ttl: 900_000 }],
  });
  await bench.client.hset(`bull:${queue}:lost`, "name", "in no state");
  return queue;
}

describe("what a person reads", () => {
  test("words of every command, and the same as documents", async () => {
    const bench = await openBench();
    for (const json of [false, true]) {
      const queue = await oddQueue(bench);
      for (const command of LIFE) {
        const args = [...command.split(" "), "--url", bench.url, "--queue", queue];
        const { status, stdout, stderr } = await runMain(...args, ...(json ? ["--json"] : []));
        expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: "" });
        if (json) {
          const lines = stdout.trim().split("\n");
          const phases = lines.map((line) => JSON.parse(line).phase);
          expect(phases.at(-1)).toBe(command === "run" ? "commit" : command.split(" ")[0]);
          continue;
        }
        expect(stdout, command).not.toMatch(/[{[]"|\bundefined\b|\bnull\b|NaN|\[object/);
        // One at most, at the end: what run walks by itself is no next command.
        const next = stdout.split("\n").filter((line) => line.startsWith("  next: "));
        expect(next.length, stdout).toBeLessThanOrEqual(1);
        if (next.length === 1) expect(stdout.endsWith(`${next[0]}\n`)).toBe(true);
      }
    }
  });

  test("a copy with findings names them, and a difference is shown line by line", async () => {
    const bench = await openBench();
    const queue = await oddQueue(bench);
    const at = ["--url", bench.url, "--queue", queue];
    const plan = await runMain("plan", ...at);
    expect(plan.stdout).toContain("members without a job: 1, first failed gone");
    expect(plan.stdout).toContain("jobs in two states: 1, first 2 completed and failed");
    expect(plan.stdout).toContain("1 hash stands in no state");
    expect((await runMain("fence", ...at)).status).toBe(0);
    const copy = await runMain("copy", ...at);
    expect(copy.stdout).toContain("1 member without a job, not carried: failed gone");
    const good = await runMain("verify", ...at);
    expect(good.stdout).toContain(`1 job of v1 in no state, not carried: bull:${queue}:lost`);
    await bench.client.hset(`emq:{${queue}}:v2:job:1`, "data", "other");
    const bad = await runMain("verify", ...at);
    expect(bad).toMatchObject({ status: 4, stdout: "" });
    expect(bad.stderr).toMatch(
      /^DIFFERENT: v1 and v2 differ in 1 place: wait 1 field data differs\.$/m,
    );
    expect(bad.stderr).toMatch(/^ {2}wait 1: field data differs$/m);
    expect(bad.stderr).toMatch(/^ {2}next: .* rollback --queue /m);
    expect((await runMain("rollback", ...at)).status).toBe(0);
  });

  test("after the commit: what is left to do, and nothing once all is done", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("after");
    await withQueue({ url: bench.url, queue }, (v1) => v1.add("a", {}));
    const at = ["--url", bench.url, "--queue", queue];
    expect((await runMain("run", ...at)).status).toBe(0);

    const closed = await runMain("status", ...at);
    expect(closed.stdout).toContain("no v2 client has opened it yet");
    expect(closed.stdout).toContain("rollback still gives it back");
    // The way back is not offered for deletion before v2 has shown that it works.
    expect(closed.stdout).not.toContain("next:");
    const planned = await runMain("plan", ...at);
    expect(planned.status).toBe(1);
    expect(planned.stdout).toMatch(/^plan\n {2}TARGET_TAKEN: .*\n {2}next: .* status --queue/);
    expect((await runMain("drain", ...at)).stderr).toContain("TARGET_TAKEN: ");
    // Told once, by the v1 queue it began with, and not again by its place on v2.
    const listed = JSON.parse((await runMain("discover", ...at.slice(0, 2), "--json")).stdout);
    expect(
      listed.queues.filter((one: { queue: string }) => one.queue.includes(queue)),
    ).toMatchObject([{ prefix: "bull", queue, state: "done" }]);

    await bench.client.hset(`emq:{${queue}}:v2:meta`, "opened", "1750000000000");
    const opened = await runMain("status", ...at);
    expect(opened.stdout).toContain("first opened by v2 at 2025-06-15T15:06:40.000Z");
    expect(opened.stdout).toMatch(/ {2}next: .* commit --purge-v1 --queue /);

    expect((await runMain("commit", "--purge-v1", ...at)).status).toBe(0);
    const purged = await runMain("status", ...at, "--json");
    expect(JSON.parse(purged.stdout)).toMatchObject({ state: "done", purge: "done", next: null });
    const words = (await runMain("status", ...at)).stdout;
    expect(words).toContain("v1's keys were removed at ");
    expect(words).toMatch(/^ {2}state +v2$/m);
    expect(words).not.toContain("next:");
    const again = await runMain("plan", ...at);
    expect(again.stdout).toMatch(/^plan\n {2}TARGET_TAKEN: .*\n {2}next: /);

    expect((await runMain("remove", "--yes", ...at)).status).toBe(0);
    expect((await runMain("status", ...at)).stdout).toContain("its tombstone says that it moved");
    expect((await runMain("plan", ...at)).stdout).toContain("TARGET_TAKEN: ");
  });

  test("a key that is nobody's is named with what stands in it", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("foreign");
    const at = ["--url", bench.url, "--queue", queue];
    await bench.client.rpush(`emq:{${queue}}:meta`, "x");
    await bench.client.set(`bull:${queue}:meta`, "mine");
    const { status, stdout } = await runMain("status", ...at);
    expect(status).toBe(0);
    expect(stdout).toContain(`the stamp emq:{${queue}}:meta: a list\n`);
    expect(stdout).toContain(`v1's bull:${queue}:meta: the text "mine"\n`);
    const plan = await runMain("plan", ...at);
    expect(plan).toMatchObject({ status: 1 });
    expect(plan.stdout).toContain("FOREIGN: ");
    expect((await runMain("drain", ...at)).stderr).toContain("FOREIGN: ");
  });

  test("names and values cannot act upon the terminal", async () => {
    await using server = await startServer();
    const { client } = await benchAt(server.url);
    const queue = 'a\u001b[31m"b\u0007\r\u202e';
    await plant(client, `bull:${queue}:`, {
      jobs: [
        { id: "x\u001b]0;y\u0007", state: "wait", score: 0, priority: 0, fields: {}, logs: [] },
      ],
      meta: { version: "bullmq:5.65.1" },
      dangling: [],
      dedups: [],
    });
    const at = ["--url", server.url, "--queue", queue];
    for (const args of [
      ["discover", "--url", server.url],
      ["discover", ...at, "--as", "good"],
      ["plan", ...at],
      ["plan", ...at, "--as", "good"],
      ["status", ...at, "--as", "good"],
      ["status", "--url", server.url, "--queue", "n", "--prefix", "p\u001b[2J"],
      ["drain", "--url", server.url, "--queue", "n", "--prefix", "p\u001b[2J"],
      ["plan", "--\u001b[31m"],
    ]) {
      const { stdout, stderr } = await runMain(...args);
      expect(`${stdout}${stderr}`, args.join(" ")).not.toMatch(ACTING);
    }
  });
});

describe("what goes wrong before anything begins", () => {
  test("--version and help; a wrong word is answered by the one that was meant", async () => {
    expect(await runCli("--version")).toMatchObject({ status: 0, stdout: "2.0.0-alpha.0\n" });
    const { stdout } = await runMain("--help");
    for (const code of [0, 1, 2, 3, 4, 130])
      expect(stdout).toMatch(new RegExp(`^ {2}${code} `, "m"));
    // A password in the environment is no default to show.
    const env = { ECHOMQ_REDIS_URL: "redis://:hunter2@h:1" };
    const help = await runMainAt({ tty: false, env }, "plan", "--help");
    expect(help.stdout).not.toContain("hunter2");
    const typos = [
      [["statsu"], "(Did you mean status?)"],
      [["plan", "--quue", "x"], "(Did you mean --queue?)"],
      [["help", "nothing"], "no such command"],
      [["plan", "--driver", "redis"], "Allowed choices are ioredis, node-redis"],
    ] as const;
    for (const [args, said] of typos) {
      const { status, stderr } = await runMain(...args);
      expect({ args, status }).toEqual({ args, status: 2 });
      expect(stderr).toContain(said);
      const { stdout: document } = await runMain(...args, "--json");
      expect(JSON.parse(document)).toMatchObject({ phase: null, error: { code: "USAGE" } });
    }
    const runbook = await runMain("runbook", "--json");
    expect(JSON.parse(runbook.stdout)).toMatchObject({ phase: "runbook" });
  });

  test.each(["ioredis", "node-redis"])(
    "a server that cannot be used is one sentence (%s)",
    async (driver) => {
      await using open = await startServer();
      await using locked = await startServer({ args: ["--requirepass", "sesame"] });
      const { host, port } = new URL(open.url);
      const lockedHost = new URL(locked.url).host;
      const cases: readonly (readonly [string, string, RegExp, number])[] = [
        [
          "redis://127.0.0.1:1",
          "CONNECTION_LOST",
          /nothing listens at redis:\/\/127\.0\.0\.1:1:/,
          3,
        ],
        ["redis://nowhere.invalid", "CONNECTION_LOST", /nowhere\.invalid:6379 is not known/, 3],
        [`rediss://${host}`, "CONNECTION_LOST", /does not answer as a Redis server: .*TLS/, 3],
        [
          `redis://${host}/99`,
          "CONFIG",
          new RegExp(`:${port}/99: the server has no such database`),
          3,
        ],
        [`redis://${lockedHost}`, "NOAUTH", /wants a password/, 3],
        [`redis://:hunter2@${lockedHost}`, "NOAUTH", /refuses this user name or password/, 3],
        [`redis://me:hunter2@${lockedHost}`, "NOAUTH", /refuses this user name or password/, 3],
        [`redis://${host}/abc`, "USAGE", /--url: expected redis:.* a number as database/, 2],
        [`redis://:hunter2@${host}?db=x`, "USAGE", /--url: expected redis:/, 2],
        [`${host}`, "USAGE", /--url: expected redis:/, 2],
      ];
      const tell = async ([url, code, message, exit]: (typeof cases)[number]): Promise<void> => {
        const args = ["status", "--queue", "q", "--url", url, "--driver", driver];
        const [words, document] = await Promise.all([runMain(...args), runMain(...args, "--json")]);
        expect({ url, status: words.status, stdout: words.stdout }).toEqual({
          url,
          status: exit,
          stdout: "",
        });
        expect(words.stderr, url).toMatch(message);
        expect(words.stderr, url).toMatch(/^[^\n]{10,}\n$/);
        expect(JSON.parse(document.stdout)).toMatchObject({ phase: null, error: { code } });
        expect(`${words.stderr}${document.stdout}${document.stderr}`).not.toContain("hunter2");
      };
      // Some are waited for, so all at once.
      await Promise.all(cases.map(tell));
      const wrongEnv = { tty: false, env: { ECHOMQ_REDIS_URL: "localhost" } };
      expect((await runMainAt(wrongEnv, "discover")).stderr).toContain(
        "ECHOMQ_REDIS_URL: expected",
      );
    },
  );

  test("a node of a cluster is refused by its reason, not by what its keys answer", async () => {
    await using cluster = await startCluster();
    const [url = ""] = cluster.urls;
    for (const command of ["discover", "plan --queue q", "run --queue q", "status --queue q"]) {
      for (const driver of ["ioredis", "node-redis"]) {
        const { status, stdout, stderr } = await runMain(
          ...command.split(" "),
          ...["--url", url, "--driver", driver],
        );
        expect({ command, status, stdout }).toEqual({ command, status: 1, stdout: "" });
        expect(stderr).toMatch(/^CLUSTER: A queue on a cluster cannot be moved yet; [^\n]*\n$/);
      }
    }
  });

  test("another database than the queue's: where keys stand is said", async () => {
    await using server = await startServer();
    await withQueue({ url: server.url, queue: "orders" }, (v1) => v1.add("a", {}));
    const elsewhere =
      /This database is empty; databases of the server that are not: 0 \(\d+ keys\)/;
    for (const command of ["discover", "plan --queue orders", "run --queue orders"]) {
      const { stdout, stderr } = await runMain(...command.split(" "), "--url", `${server.url}/3`);
      expect(stdout + stderr, command).toMatch(elsewhere);
    }
    const alone = await runMain("discover", "--prefix", "shop", "--url", server.url);
    expect(alone.stdout).toContain("no v1 queue found at these prefixes");
    await withQueue({ url: server.url, queue: "lamps", prefix: "shop" }, (v1) => v1.add("a", {}));
    expect((await runMain("discover", "--prefix", "shop", "--url", server.url)).stdout).toMatch(
      /^ {2}shop +lamps +v1 /m,
    );
  });
});

describe("streams", () => {
  test("a connection that is lost in the middle: what was lost, and the command that goes on", async () => {
    const bench = await openBench();
    const proxy = await startProxy({ port: Number(new URL(bench.url).port) });
    onTestFinished(() => proxy.close());
    const queue = uniqueQueue("cut");
    await makeV1({ url: bench.url, queue, waiting: 2_000 });
    const run = startCli("run", "--queue", queue, "--url", proxy.url, "--batch", "1");
    const stamp = `emq:{${queue}}:meta`;
    while (!(await bench.client.get(stamp))?.endsWith(":copy")) {
      // As fast as the server answers.
    }
    await proxy.close();
    const { status, stderr } = await run.done;
    expect(status).toBe(3);
    expect(stderr).toMatch(
      /^CONNECTION_LOST: nothing listens at .*\n {2}next: .* run --queue .*\n$/m,
    );
    expect(stderr).not.toMatch(/^ +at /m);
    expect((await runMain("run", "--queue", queue, "--url", bench.url)).status).toBe(0);
  });

  test("no bar and no control characters into a pipe, a bar on a terminal", async () => {
    const bench = await openBench();
    const queue = uniqueQueue("pipe");
    await makeV1({ url: bench.url, queue, waiting: 500 });
    const at = ["--queue", queue, "--url", bench.url, "--batch", "5"];
    const piped = await runCli("run", ...at);
    expect(piped).toMatchObject({ status: 0, stderr: "" });
    expect(piped.stdout).not.toMatch(ACTING);
    const shown = await runMainAt({ tty: true, env: {} }, "rollback", ...at);
    expect(shown.status).toBe(0);
    expect(shown.stderr).toContain("rollback v2 keys ");
    // Hidden by a bar, the cursor would stay hidden after a kill.
    expect(shown.stderr).not.toContain("\u001b[?25l");
  });

  test("a reader that has seen enough ends the tool without a stack", async () => {
    const bench = await openBench();
    const run = startCli("discover", "--url", bench.url);
    run.process.stdout?.destroy();
    const { status, stderr } = await run.done;
    expect({ status, stderr }).toEqual({ status: 141, stderr: "" });
  });
});
