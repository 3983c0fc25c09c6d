import { readFileSync } from "node:fs";
import { dumpAll, sharedServer, startCluster, startServer, uniqueQueue } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { FINDINGS } from "../../src/index.js";
import { Bench, ENGINES } from "../support/bench.js";
import { runMain, runMainAt, startCli } from "../support/cli.js";
import { clusterClient } from "../support/cluster.js";
import { FAULTS, fillQueue, found } from "../support/doctor-faults.js";
import { until } from "../support/until.js";

/** What a terminal acts upon, but for the end of a line. */
const ACTING = /(?!\n)[\p{Cc}\p{Cf}]/u;

describe.each(ENGINES)("echomq doctor on %s", (engine) => {
  test.each(FAULTS)("$name", async (fault) => {
    const { url } = await sharedServer(engine);
    const bench = Bench.on(url);
    const queue = bench.queue();
    await fillQueue(queue);
    const doctor = (...more: string[]) => runMain("doctor", bench.name, "--url", url, ...more);
    const documentOf = async (...more: string[]) => {
      const { status, stdout, stderr } = await doctor("--json", ...more);
      expect(stderr).toBe("");
      return { status, report: JSON.parse(stdout) };
    };
    const clean = await doctor();
    expect(clean).toMatchObject({ status: 0, stderr: "" });
    expect(clean.stdout).toMatch(new RegExp(`^${bench.name}: clean, \\d+ looked at\n$`));

    await fault.damage(bench);
    const seen = await doctor();
    expect(seen).toMatchObject({ status: 1, stderr: "" });
    for (const kind of new Set(fault.found.map((text) => text.split(" ")[0] ?? ""))) {
      expect(seen.stdout).toContain(`  ${kind} `);
      expect(seen.stdout).toContain(FINDINGS[kind as keyof typeof FINDINGS]);
    }
    const next = `  next: npx -p @echomq/core -p ioredis echomq doctor ${bench.name} --fix --url ${url}`;
    expect(seen.stdout.includes(next)).toBe(fault.kept !== true);
    const told = await documentOf();
    expect(told.status).toBe(1);
    expect(found(told.report)).toEqual(fault.found);

    const mended = await documentOf("--fix");
    expect(mended.status).toBe(fault.kept ? 1 : 0);
    expect(found(mended.report)).toEqual(fault.found);
    expect((await doctor()).status).toBe(fault.kept ? 1 : 0);

    const before = await dumpAll(bench.client, `emq:{${bench.name}}:*`);
    const again = await doctor("--fix");
    expect(again.status).toBe(fault.kept ? 1 : 0);
    if (fault.kept) expect(again.stdout).toContain("what is left needs a choice");
    else expect(again.stdout).toMatch(/: clean, /);
    expect(await dumpAll(bench.client, `emq:{${bench.name}}:*`)).toEqual(before);
    expect(await fault.after(bench, queue)).toEqual(fault.wanted);
  });

  test("what it mended stands beside what it could not, and more than the limit is said", async () => {
    const { url } = await sharedServer(engine);
    const bench = Bench.on(url);
    await fillQueue(bench.queue());
    await bench.client.set(bench.key("what"), "x");
    await bench.client.lpush(bench.key("wait"), ...Array.from({ length: 30 }, (_, n) => `g${n}`));
    const at = ["doctor", bench.name, "--url", url];
    const few = await runMain(...at, "--limit", "10");
    expect(few.status).toBe(1);
    expect(few.stdout).toContain(`${bench.name}: 10 findings, `);
    expect(few.stdout).toMatch(/^ {2}missing-hash +10 {2}g\d+ g\d+ g\d+ … {2}an id in a state/m);
    expect(few.stdout).toContain("  there is more: ");
    const fixed = await runMain(...at, "--fix");
    expect(fixed.status).toBe(1);
    expect(fixed.stdout).toContain(`${bench.name}: 31 findings, 30 mended, `);
    expect(fixed.stdout).toMatch(/^ {2}missing-hash +30 +30 /m);
    expect(fixed.stdout).toMatch(/^ {2}foreign-key +1 +0 /m);
    await bench.client.del(bench.key("what"));
    expect((await runMain(...at)).status).toBe(0);
  });
});

describe.each(ENGINES)("the other commands on %s", (engine) => {
  async function open(): Promise<{ bench: Bench; at: string[] }> {
    const { url } = await sharedServer(engine);
    const bench = Bench.on(url);
    return { bench, at: [bench.name, "--url", url] };
  }

  test("counts: every state of every queue, workers, and which is paused", async () => {
    const { bench, at } = await open();
    await fillQueue(bench.queue());
    const other = bench.queue({}, `${bench.name}-2`);
    await other.add("x", 1);
    await other.pause();
    const worker = bench.worker(async () => null, {}, other.name);
    await until("the worker tells that it lives", async () => (await other.getWorkersCount()) > 0);
    const before = await dumpAll(bench.client, `emq:{${bench.name}*`);
    const words = await runMain("counts", ...at, other.name);
    expect(words).toMatchObject({ status: 0, stderr: "" });
    const [head, first, second] = words.stdout.split("\n").map((line) => line.trim().split(/ +/));
    const row = (cells: string[] | undefined) =>
      Object.fromEntries((head ?? []).map((name, n) => [name, cells?.[n]]));
    expect(row(first)).toMatchObject({
      queue: bench.name,
      waiting: "1",
      prioritized: "1",
      delayed: "1",
      workers: "0",
    });
    expect(row(second)).toMatchObject({ queue: other.name, waiting: "1", workers: "1" });
    expect(second?.at(-1)).toBe("paused");
    const lines = (await runMain("counts", ...at, other.name, "--json")).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { queue: bench.name, paused: false, workers: 0, counts: await bench.queue().getJobCounts() },
      { queue: other.name, paused: true, workers: 1, counts: await other.getJobCounts() },
    ]);
    await worker.close();
    const after = await dumpAll(bench.client, `emq:{${bench.name}}:*`);
    for (const [key, dump] of after) expect(dump).toEqual(before.get(key));
  });

  test("pause and resume: workers get nothing meanwhile, and all of it afterwards", async () => {
    const { bench, at } = await open();
    const queue = bench.queue();
    await queue.add("x", 1);
    expect(await runMain("pause", ...at)).toMatchObject({
      status: 0,
      stdout: `${bench.name}: paused\n`,
    });
    expect(await queue.isPaused()).toBe(true);
    const seen: unknown[] = [];
    bench.worker(async ({ data }) => {
      seen.push(data);
    });
    await queue.add("x", 2);
    // Paused a second time it stays so.
    const twice = await runMain("pause", ...at, "--json");
    expect(JSON.parse(twice.stdout)).toEqual({ queue: bench.name, paused: true });
    expect(seen).toEqual([]);
    expect(await queue.getWaitingCount()).toBe(2);
    expect(await runMain("resume", ...at)).toMatchObject({
      status: 0,
      stdout: `${bench.name}: resumed\n`,
    });
    await until("both ran", async () => (await queue.getCompletedCount()) === 2);
    expect(seen).toEqual([1, 2]);
  });

  test("retry: failed jobs run again, completed ones when asked for, attempts anew when asked for", async () => {
    const { bench, at } = await open();
    const queue = bench.queue();
    let broken = true;
    bench.worker(async () => {
      if (broken) throw new Error("no luck");
    });
    await queue.add("x", 1, { jobId: "a" });
    await queue.add("x", 2, { jobId: "b" });
    await until("both failed", async () => (await queue.getFailedCount()) === 2);
    broken = false;
    expect(await runMain("retry", ...at)).toMatchObject({
      status: 0,
      stdout: `${bench.name}: 2 jobs back in line\n`,
    });
    await until("both are done", async () => (await queue.getCompletedCount()) === 2);
    expect((await queue.getJob("a"))?.attemptsMade).toBe(2);
    expect((await runMain("retry", ...at)).stdout).toBe(`${bench.name}: 0 jobs back in line\n`);
    const anew = await runMain(
      "retry",
      ...at,
      "--state",
      "completed",
      "--reset-attempts",
      "--json",
    );
    expect(JSON.parse(anew.stdout)).toEqual({ queue: bench.name, retried: 2 });
    await until("both are done", async () => (await queue.getCompletedCount()) === 2);
    expect((await queue.getJob("a"))?.attemptsMade).toBe(1);
  });

  test("redrive: letters go back to where they came from, or elsewhere", async () => {
    const { bench, at } = await open();
    const dead = `${bench.name}-dead`;
    const queue = bench.queue({ defaultJobOptions: { deadLetter: { queue: dead } } });
    const letters = bench.queue({}, dead);
    const worker = bench.worker(async () => {
      throw new Error("no luck");
    });
    for (const id of ["a", "b", "c"]) await queue.add("x", id, { jobId: id });
    await until("the letters came", async () => (await letters.getWaitingCount()) === 3);
    await worker.close();
    const [, ...url] = at;
    const one = await runMain("redrive", dead, ...url, "--count", "1");
    expect(one).toMatchObject({ status: 0, stdout: `${dead}: 1 job on the way back\n` });
    expect(await queue.getWaitingCount()).toBe(1);
    const other = bench.queue({}, `${bench.name}-other`);
    const rest = await runMain("redrive", dead, ...url, "--to", other.name, "--json");
    expect(JSON.parse(rest.stdout)).toEqual({ queue: dead, redriven: 2 });
    expect(await other.getWaitingCount()).toBe(2);
    expect(await letters.count()).toBe(0);
  });

  test("a queue that is not there is trouble, and no command makes one", async () => {
    const { bench, at } = await open();
    for (const command of [
      "doctor",
      "doctor --fix",
      "counts",
      "pause",
      "resume",
      "retry",
      "redrive",
    ]) {
      const args = [...command.split(" "), ...at];
      const { status, stdout, stderr } = await runMain(...args);
      expect({ command, status, stdout }).toEqual({ command, status: 2, stdout: "" });
      expect(stderr).toMatch(
        new RegExp(`^${bench.name}: NO_QUEUE: There is no queue of this name`),
      );
      const document = JSON.parse((await runMain(...args, "--json")).stdout);
      expect(document).toMatchObject({ queue: bench.name, error: { code: "NO_QUEUE" } });
    }
    expect(await bench.client.keys(`*${bench.name}*`)).toEqual([]);
  });

  test("one queue in trouble does not keep the others from being looked at", async () => {
    const { bench, at } = await open();
    await fillQueue(bench.queue());
    const v1 = `${bench.name}-v1`;
    await bench.client.hset(`bull:${v1}:meta`, "version", "bullmq:5.65.1");
    const both = await runMain("doctor", v1, ...at);
    expect(both.status).toBe(2);
    expect(both.stderr).toMatch(
      new RegExp(`^${v1}: V1_KEYSPACE: Queue "${v1}" lives on the v1 wire`),
    );
    expect(both.stdout).toMatch(new RegExp(`^${bench.name}: clean, `));
    await bench.client.del(bench.key("marker"));
    // The worst of all is the exit status.
    expect((await runMain("doctor", v1, ...at)).status).toBe(2);
    expect((await runMain("doctor", ...at)).status).toBe(1);
  });
});

describe("echomq", () => {
  test("--all is every v2 queue of the database, and no other", async () => {
    await using server = await startServer();
    const bench = Bench.on(server.url);
    const at = ["--all", "--url", server.url];
    const none = await runMain("counts", ...at);
    expect(none).toMatchObject({ status: 2, stdout: "" });
    expect(none.stderr).toContain("NO_QUEUE: There is no v2 queue in this database");
    const names = ["b", "a", "ä ö", "x*[y]"];
    for (const name of names) await fillQueue(bench.queue({}, name));
    await bench.client.hset("emq:{v1}:meta", "version", "bullmq:5.65.1");
    await bench.client.set("emq:{a}:v2:job:meta", "x");
    const told = (text: string): string[] =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).queue);
    const { status, stdout } = await runMain("counts", ...at, "--json");
    expect({ status, names: told(stdout) }).toEqual({ status: 0, names: [...names].sort() });
    expect((await runMain("doctor", ...at)).status).toBe(1);
    await bench.client.del("emq:{a}:v2:job:meta");
    expect((await runMain("doctor", ...at)).status).toBe(0);
    expect((await runMain("pause", ...at)).status).toBe(0);
    for (const name of names) expect(await bench.queue({}, name).isPaused()).toBe(true);
    expect((await runMain("resume", ...at)).status).toBe(0);
  });

  test("every command that docs/looking.md shows does what it says", async () => {
    await using server = await startServer();
    const bench = Bench.on(server.url);
    await fillQueue(bench.queue({}, "mails"));
    await bench.queue({}, "mails-dead").add("x", 1);
    const page = readFileSync(new URL("../../../../docs/looking.md", import.meta.url), "utf8");
    const shown = [...page.matchAll(/^npx echomq (.*)$/gm)].map(([, line = ""]) => line);
    expect(shown.length).toBeGreaterThan(5);
    const env = { ECHOMQ_REDIS_URL: server.url };
    for (const line of shown) {
      const { status, stdout, stderr } = await runMainAt({ env }, ...line.split(" "));
      expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: "" });
      expect(stdout).not.toBe("");
    }
    const help = (await runMain("--help")).stdout;
    for (const [, name = ""] of help.matchAll(/^ {2}([a-z]+) \[options\]/gm)) {
      expect(shown.map((line) => line.split(" ")[0])).toContain(name);
    }
  });

  test("a queue of a cluster is found by any of its nodes", async () => {
    await using cluster = await startCluster();
    const [url = ""] = cluster.urls;
    const bench = Bench.on(url, clusterClient(cluster.urls, "ioredis"));
    const names = await Promise.all(cluster.nodes.map((node) => cluster.queueOn(node)));
    for (const name of names) await fillQueue(bench.queue({}, name));
    const counted = await runMain("counts", ...names, "--url", url, "--json");
    expect(counted).toMatchObject({ status: 0, stderr: "" });
    for (const line of counted.stdout.trim().split("\n")) {
      expect(JSON.parse(line).counts).toMatchObject({ waiting: 1, prioritized: 1, delayed: 1 });
    }
    expect(await runMain("doctor", ...names, "--url", url)).toMatchObject({
      status: 0,
      stderr: "",
    });
    expect((await runMain("pause", ...names, "--url", url)).status).toBe(0);
    const all = await runMain("counts", "--all", "--url", url);
    expect(all).toMatchObject({ status: 2, stdout: "" });
    expect(all.stderr).toBe("error: --all cannot list a cluster: name the queues\n");
  });

  test("used wrongly: one sentence, and the word that was meant", async () => {
    const cases: readonly (readonly [string, string])[] = [
      ["", "a command is needed"],
      ["doctr q", "(Did you mean doctor?)"],
      ["help nothing", "no such command"],
      ["doctor", "name one queue or more"],
      ["doctor q --all", "name one queue or more"],
      ["doctor q --fx", "(Did you mean --fix?)"],
      ["doctor q --limit 0", "expected a whole number from 1"],
      ["doctor a{b", "queue: must hold no braces"],
      ["retry q --state active", "Allowed choices are failed, completed"],
      ["retry --all", "unknown option '--all'"],
      ["redrive q --count x", "expected a whole number from 1"],
      ["counts q --url h:1", "--url: expected redis://host:port"],
      ["counts q --url redis://:hunter2@h/x", "--url: expected redis://host:port"],
    ];
    for (const [line, said] of cases) {
      const args = line === "" ? [] : line.split(" ");
      const words = await runMain(...args);
      expect({ line, status: words.status, stdout: words.stdout }).toEqual({
        line,
        status: 2,
        stdout: "",
      });
      expect(words.stderr).toMatch(/^error: [^\n]+\n$/);
      expect(words.stderr).toContain(said);
      if (line === "") continue;
      const document = await runMain(...args, "--json");
      expect(JSON.parse(document.stdout)).toMatchObject({ error: { code: "USAGE" } });
      expect(`${words.stderr}${document.stdout}${document.stderr}`).not.toContain("hunter2");
    }
    const env = { ECHOMQ_REDIS_URL: "redis://:hunter2@h:1" };
    const help = await runMainAt({ env }, "doctor", "--help");
    expect(help).toMatchObject({ status: 0, stderr: "" });
    expect(help.stdout).toContain("--fix");
    expect(help.stdout).not.toContain("hunter2");
    const wrong = await runMainAt({ env: { ECHOMQ_REDIS_URL: "h" } }, "counts", "q");
    expect(wrong.stderr).toContain("ECHOMQ_REDIS_URL: expected");
  });

  test("a server that cannot be used is one sentence, said once", async () => {
    await using open = await startServer();
    await using locked = await startServer({ args: ["--requirepass", "sesame"] });
    const { host } = new URL(open.url);
    const secret = new URL(locked.url).host;
    const cases: readonly (readonly [string, string, RegExp])[] = [
      ["redis://127.0.0.1:1", "CONNECTION_LOST", /nothing listens at redis:\/\/127\.0\.0\.1:1:/],
      [`rediss://${host}`, "CONNECTION_LOST", /whether TLS is meant/],
      [`redis://${host}/99`, "CONFIG", /no such database/],
      [`redis://${secret}`, "NOAUTH", /wants a password/],
      [`redis://:hunter2@${secret}`, "NOAUTH", /refuses this user name or password/],
    ];
    await Promise.all(
      cases.map(async ([url, code, message]) => {
        const args = ["counts", "a", "b", "--url", url];
        const [words, document] = await Promise.all([runMain(...args), runMain(...args, "--json")]);
        expect({ url, status: words.status, stdout: words.stdout }).toEqual({
          url,
          status: 2,
          stdout: "",
        });
        expect(words.stderr, url).toMatch(message);
        expect(words.stderr, url).toMatch(/^[^\n]+\n$/);
        expect(JSON.parse(document.stdout)).toMatchObject({ error: { code } });
        expect(`${words.stderr}${document.stdout}${document.stderr}`).not.toContain("hunter2");
      }),
    );
  });

  test("ids and names cannot act upon the terminal", async () => {
    const { url } = await sharedServer("redis");
    const bench = Bench.on(url);
    await fillQueue(bench.queue());
    await bench.client.hset(bench.key("job:\u202eevil"), { name: "x", data: "1", timestamp: "1" });
    await bench.client.set(`${bench.key("what")}\u001b[31m`, "x");
    const { status, stdout, stderr } = await runMain("doctor", bench.name, "--url", url);
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).not.toMatch(ACTING);
    expect(stdout).toContain("\\u202eevil");
    const bad = await runMain("doctor", "a\u001b[31m", "--url", url);
    expect(bad.status).toBe(2);
    expect(bad.stderr).not.toMatch(ACTING);
  });

  test("on a terminal it says which queue it looks at, into a pipe only what was found", async () => {
    const { url } = await sharedServer("redis");
    const bench = Bench.on(url);
    await fillQueue(bench.queue());
    const args = ["doctor", bench.name, "--url", url];
    expect((await runMainAt({ tty: true }, ...args)).stderr).toBe(`looking at ${bench.name} …\n`);
    expect((await runMainAt({ tty: true }, ...args, "--json")).stderr).toBe("");
    expect((await runMain(...args)).stderr).toBe("");
  });

  test("as a program: version, environment, a pipe that closes, a signal", async () => {
    const { url } = await sharedServer("redis");
    const bench = Bench.on(url);
    await fillQueue(bench.queue());
    const version = await startCli({}, "--version").done;
    expect(version).toMatchObject({ status: 0, stderr: "" });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    const env = { ECHOMQ_REDIS_URL: url };
    expect(await startCli(env, "doctor", bench.name).done).toMatchObject({ status: 0, stderr: "" });
    const shut = startCli(env, "counts", bench.name);
    shut.process.stdout?.destroy();
    expect(await shut.done).toMatchObject({ status: 141, stderr: "" });

    await using server = await startServer();
    const client = Bench.on(server.url).client;
    await client.call("CLIENT", "PAUSE", "20000", "ALL");
    const stuck = startCli({ ECHOMQ_REDIS_URL: server.url }, "counts", uniqueQueue("stuck"));
    onTestFinished(() => {
      stuck.process.kill("SIGKILL");
    });
    // Whether it connects or already waits for an answer: it ends at once.
    setTimeout(() => stuck.process.kill("SIGINT"), 1_500);
    expect(await stuck.done).toMatchObject({ status: null, signal: "SIGINT", stdout: "" });
  });
});
