import {
  addScript,
  beginScript,
  finishScript,
  initScript,
  nodeScript,
  promoteScript,
  pushScript,
  recoverScript,
  renewScript,
  type Script,
  stepScript,
  turnScript,
} from "@echomq/scripts";
import {
  type FlakyFault,
  FlakyPlan,
  flakyDriver,
  ofCommand,
  ofScript,
  sharedServer,
} from "@echomq/testkit";
import { describe, expect, test } from "vitest";
import { Bench, ENGINES, gate, makeDriver } from "../support/bench.js";
import { until } from "../support/until.js";

const LOST: FlakyFault = { kind: "lost" };

async function flakyBench(engine: "redis" | "valkey"): Promise<{ bench: Bench; plan: FlakyPlan }> {
  const { url } = await sharedServer(engine);
  const plan = new FlakyPlan();
  return { bench: Bench.on(url, flakyDriver(await makeDriver(url), plan)), plan };
}

const KEEP = { removeOnComplete: false, removeOnFail: false } as const;
// Leases outlast the test: what was lost must come back by itself, not by the sweep.
const LONG = { lockDuration: 3_600_000, stalledInterval: 3_600_000 } as const;
const SHORT = { lockDuration: 400, stalledInterval: 200 } as const;

/** A step that settles, told from one that claims by its count of results. */
function settling(script: Script): (call: { command: readonly unknown[] }) => boolean {
  return (call) => {
    if (!ofScript(script)(call as never)) return false;
    const keys = Number(call.command[2]);
    return Number(call.command[3 + keys]) > 0;
  };
}

describe.each(ENGINES)("replies lost on %s", (engine) => {
  test("add: once, with the same id", async () => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue();
    const first = await queue.add("x", 0);
    // It was pushed, and sent again it is found to stand; what `add` says then is lost twice.
    const pushed = plan.on(ofScript(pushScript), LOST);
    const added = plan.on(ofScript(addScript), LOST, { times: 2 });
    const job = await queue.add("x", { a: 1 });
    const more = await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
    expect([pushed.hits, added.hits]).toEqual([1, 2]);
    expect(await bench.client.lrange(bench.key("wait"), 0, -1)).toEqual(
      [first, job, ...more].map(({ id }) => id).reverse(),
    );
  });

  test.each([
    ["removed at once: twice", true, 2],
    ["kept for a minute: once", { age: 60 }, 1],
  ])("an add sent again after its job has run and is %s", async (_, removeOnComplete, times) => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue();
    const ran: string[] = [];
    const worker = bench.worker((job) => void ran.push(job.id), LONG);
    await worker.run();
    const door = gate();
    plan.on(ofScript(pushScript), LOST);
    plan.on(ofScript(pushScript), { kind: "delay", until: door.opened }, { nth: 2 });
    const adding = queue.add("x", 1, { removeOnComplete });
    const done = async () => (await queue.getJobCounts()).active === 0;
    await until("it has run", async () => ran.length === 1 && (await done()));
    door.open();
    const job = await adding;
    await until("all have ended", async () => ran.length === times && (await done()));
    expect(new Set(ran)).toEqual(new Set([job.id]));
  });

  test.each([
    ["init", initScript],
    ["node", nodeScript],
  ])("%s", async (_name, script) => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue();
    const rule = plan.on(ofScript(script), LOST, { times: 2 });
    await queue.add("x", {});
    expect(rule.hits).toBe(2);
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 1 });
  });

  test("a claim: what it took is found by its token and given back in order", async () => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const jobs = await queue.addBulk(
      Array.from({ length: 30 }, (_, n) => ({ name: "x", data: n })),
    );
    const rule = plan.on(ofScript(stepScript), LOST, { times: 2 });
    const order: string[] = [];
    const worker = bench.worker((job) => void order.push(job.id), { concurrency: 5, ...LONG });
    await until("all are done", async () => (await bench.completed()) === 30);
    expect(rule.hits).toBe(2);
    expect(new Set(order)).toEqual(new Set(jobs.map(({ id }) => id)));
    expect(order.length).toBe(30);
    await worker.close();
    const first = await queue.getJob(jobs[0]?.id ?? "");
    expect(first).toMatchObject({ attemptsMade: 1, stalledCounter: 0 });
  });

  test("a claim of a worker that was paused meanwhile: given back once the connection is back", async () => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const worker = bench.worker(() => undefined, { concurrency: 20, autorun: false, ...LONG });
    const ids = ["z", "b", "a", "y"];
    await queue.addBulk(ids.map((jobId) => ({ name: "x", data: 0, opts: { jobId } })));
    // Its connection goes before the reply comes, and does not come back at once.
    const claim = plan.on(ofScript(stepScript), LOST);
    const away = plan.on(ofCommand("HSCAN"), { kind: "offline" }, { times: 3 });
    await Promise.all([worker.run(), claim.spent.then(() => worker.pause()), away.spent]);
    await until("all are back", async () => (await queue.getJobCounts()).waiting === 4);
    expect((await bench.client.lrange(bench.key("wait"), 0, -1)).reverse()).toEqual(ids);
    expect(worker.isPaused()).toBe(true);
    expect(await bench.completed()).toBe(0);
  });

  test.each([
    ["step", stepScript, { removeOnComplete: 100 }],
    ["turn", turnScript, KEEP],
  ])(
    "the settlement of a completed job by %s: told as completed, once",
    async (_, script, keep) => {
      const { bench, plan } = await flakyBench(engine);
      const queue = bench.queue({ defaultJobOptions: keep });
      const rule = plan.on(settling(script), LOST, { times: 2 });
      const told: string[] = [];
      let runs = 0;
      const worker = bench.worker(() => {
        runs += 1;
      }, LONG);
      worker.on("completed", (job) => told.push(`completed ${job.id}`));
      worker.on("lost", (job) => told.push(`lost ${job.id}`));
      const jobs = await queue.addBulk([1, 2, 3].map((n) => ({ name: "x", data: n })));
      await until("all are told", () => told.length === 3);
      expect(rule.hits).toBe(2);
      expect(told.sort()).toEqual(jobs.map(({ id }) => `completed ${id}`).sort());
      expect(runs).toBe(3);
    },
  );

  test.each([
    ["failed", { attempts: 1 }],
    ["retry", { attempts: 2 }],
    ["delay", { attempts: 2, backoff: 20 }],
  ])("the settlement of a failed attempt, %s: told as failed, charged once", async (how, opts) => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: { ...KEEP, ...opts } });
    const rule = plan.on(ofScript(finishScript), LOST);
    const told: string[] = [];
    let runs = 0;
    const worker = bench.worker(() => {
      runs += 1;
      throw new Error(`run ${runs}`);
    }, LONG);
    worker.on("failed", (_job, error, retry) => told.push(`${(error as Error).message} ${retry}`));
    worker.on("lost", () => told.push("lost"));
    const job = await queue.add("x", {});
    await until("it failed", async () => (await queue.getJobCounts()).failed === 1);
    const last = how === "failed" ? 1 : 2;
    await until("it is told", () => told.length === last);
    expect(rule.hits).toBe(1);
    expect(told).toEqual(last === 1 ? ["run 1 false"] : ["run 1 true", "run 2 false"]);
    expect(await queue.getJob(job.id)).toMatchObject({
      attemptsMade: last,
      failedReason: `run ${last}`,
    });
  });

  test.each([
    ["begin", beginScript],
    ["renew", renewScript],
    ["promote", promoteScript],
  ])("%s", async (_name, script) => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const rule = plan.on(ofScript(script), LOST, { times: 2 });
    let runs = 0;
    const lost: unknown[] = [];
    const worker = bench.worker(
      async () => {
        runs += 1;
        if (script === renewScript) await rule.spent;
      },
      { concurrency: 3, ...(script === renewScript ? { lockDuration: 2_000 } : LONG) },
    );
    worker.on("lost", (job) => lost.push(job.id));
    await worker.waitUntilReady();
    for (let n = 0; n < 4; n += 1) {
      const delay = script === promoteScript ? 30 : 0;
      await queue.addBulk([1, 2].map((data) => ({ name: "x", data, opts: { delay } })));
      await until("both are done", async () => (await bench.completed()) === 2 * (n + 1));
    }
    expect(rule.hits).toBe(2);
    expect(lost).toEqual([]);
    expect(runs).toBe(8);
  });

  test("recover: a job of a dead worker is back once, charged once", async () => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const job = await queue.add("x", {});
    const rule = plan.on(ofScript(recoverScript), LOST);
    await steal(bench, job.id, "1:dead!", 1);
    bench.worker(() => "done", SHORT);
    await until("it is done", async () => (await bench.completed()) === 1);
    expect(rule.hits).toBe(1);
    expect(await queue.getJob(job.id)).toMatchObject({ stalledCounter: 1, attemptsMade: 1 });
  });

  test("a lane that is offline for a while is waited for", async () => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    plan.on(ofCommand("EVALSHA"), { kind: "offline" }, { nth: 3, times: 12 });
    plan.on(ofCommand("BZPOPMIN"), { kind: "offline" }, { times: 2 });
    bench.worker(() => undefined, LONG);
    await Promise.all(Array.from({ length: 20 }, (_, n) => queue.add("x", n)));
    await until("all are done", async () => (await bench.completed()) === 20);
  });

  test.each([
    "LOADING Redis is loading",
    "READONLY You can't write",
    "CLUSTERDOWN Hash slot",
    "BUSY Redis is busy",
  ])("the server answers %s for a while: nobody is told, nothing is lost", async (text) => {
    const { bench, plan } = await flakyBench(engine);
    const queue = bench.queue({ defaultJobOptions: KEEP });
    plan.on(ofCommand("EVALSHA"), { kind: "answer", text }, { nth: 4, times: 6 });
    bench.worker(() => undefined, LONG);
    await Promise.all(Array.from({ length: 5 }, (_, n) => queue.add("x", n)));
    await until("all are done", async () => (await bench.completed()) === 5);
  });
});

/** Makes a waiting job an active one of somebody else's lease. */
async function steal(bench: Bench, id: string, owner: string, deadline: number): Promise<void> {
  await bench.client
    .multi()
    .lrem(bench.key("wait"), 0, id)
    .hset(bench.key("owners"), id, owner)
    .zadd(bench.key("active"), -deadline, id)
    .exec();
}
