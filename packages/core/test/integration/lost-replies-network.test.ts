import {
  beginScript,
  finishScript,
  pushScript,
  type Script,
  stepScript,
  turnScript,
} from "@echomq/scripts";
import { sharedServer, startProxy, type TcpProxy } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, type DriverName, ENGINES, makeDriver } from "../support/bench.js";
import { until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];
const KEEP = { removeOnComplete: false, removeOnFail: false } as const;
// Leases outlast the test: what was lost must come back by itself, not by the sweep.
const LONG = { lockDuration: 3_600_000, stalledInterval: 3_600_000 } as const;

/** Whether a client's bytes hold a call of a script. */
const asks = (request: Buffer, { sha }: Script): boolean => request.includes(sha);

const MATRIX = ENGINES.flatMap((engine) => DRIVERS.map((driver) => [engine, driver] as const));

describe.each(MATRIX)("replies a network swallows, %s, %s", (engine, driver) => {
  async function open(): Promise<{ proxy: TcpProxy; bench: Bench }> {
    const { url } = await sharedServer(engine);
    const proxy = await startProxy({ port: Number(new URL(url).port) });
    onTestFinished(() => proxy.close());
    const made = await makeDriver(proxy.url, driver);
    onTestFinished(() => made.close("now"));
    return { proxy, bench: Bench.on(url, made) };
  }

  async function clean(bench: Bench): Promise<void> {
    const queue = Bench.on(bench.url, bench.url, bench.name).queue();
    expect((await queue.doctor()).findings).toEqual([]);
    expect(await bench.client.hlen(bench.key("owners"))).toBe(0);
  }

  test("an add: once, with the id it was sent with", async () => {
    const { proxy, bench } = await open();
    const queue = bench.queue();
    await queue.waitUntilReady();
    const added: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const dropped = proxy.dropReplies((_, request) => asks(request, pushScript));
      if (round % 2 === 0) added.push((await queue.add("x", round)).id);
      else {
        const jobs = [1, 2, 3].map((n) => ({ name: "x", data: [round, n] }));
        added.push(...(await queue.addBulk(jobs)).map(({ id }) => id));
      }
      await dropped;
    }
    expect(new Set(added).size).toBe(8);
    expect(await bench.client.lrange(bench.key("wait"), 0, -1)).toEqual(added.reverse());
    await clean(bench);
  });

  test("a claim, with and without the fields: given back in order, each job runs once", async () => {
    const { proxy, bench } = await open();
    const queue = bench.queue({ defaultJobOptions: KEEP });
    const total = 40;
    const bulk = Array.from({ length: total }, (_, n) => ({ name: "x", data: n }));
    const ids = (await queue.addBulk(bulk)).map(({ id }) => id);
    const ran: string[] = [];
    const worker = bench.worker(({ id }) => void ran.push(id), { concurrency: 4, ...LONG });
    let drops = 0;
    const scripts = [stepScript, beginScript, stepScript];
    const next = (): void => {
      const script = scripts.shift();
      if (script === undefined) return;
      void proxy
        .dropReplies((_, request) => asks(request, script))
        .then(() => {
          drops += 1;
          next();
        });
    };
    next();
    await worker.waitUntilReady();
    await until("all are done", async () => (await bench.completed()) === total);
    expect(drops).toBeGreaterThan(1);
    expect(new Set(ran)).toEqual(new Set(ids));
    for (const job of await queue.getCompleted()) {
      expect(job).toMatchObject({ attemptsMade: 1, stalledCounter: 0 });
    }
    await worker.close();
    await clean(bench);
  });

  test.each([
    ["completed", { removeOnComplete: 100 }, stepScript],
    ["completed by a turn", KEEP, turnScript],
    ["completed and removed", { removeOnComplete: true }, stepScript],
    ["failed", { ...KEEP, attempts: 1 }, finishScript],
    ["retried", { ...KEEP, attempts: 2 }, finishScript],
    ["put off", { ...KEEP, attempts: 2, backoff: 20 }, finishScript],
  ])("a settlement, %s: told once, charged once", async (how, opts, script) => {
    const { proxy, bench } = await open();
    const near = Bench.on(bench.url, bench.url, bench.name);
    const queue = near.queue({ defaultJobOptions: opts });
    const fails = script === finishScript;
    const told: string[] = [];
    const runs = new Map<string, number>();
    let dropping: Promise<void> | undefined;
    const worker = bench.worker(
      ({ id }) => {
        runs.set(id, (runs.get(id) ?? 0) + 1);
        // From the first end on, so that no claim is meant.
        dropping ??= proxy.dropReplies((_, request) => asks(request, script));
        if (fails) throw new Error(`run ${runs.get(id)}`);
        return id;
      },
      { concurrency: 1, ...LONG },
    );
    worker.on("completed", ({ id }) => told.push(`completed ${id}`));
    worker.on("failed", ({ id }, error, retry) => {
      told.push(`${retry ? "again" : "failed"} ${id} ${(error as Error).message}`);
    });
    worker.on("lost", ({ id }) => told.push(`lost ${id}`));
    await worker.waitUntilReady();
    const ids = (
      await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: "x", data: n })))
    ).map(({ id }) => id);
    const attempts = "attempts" in opts ? opts.attempts : 1;
    await until(`all are told: ${how}`, () => told.length === ids.length * attempts);
    await dropping;
    const last = fails ? "failed" : "completed";
    const ends = ids.map((id) => (fails ? `${last} ${id} run ${attempts}` : `${last} ${id}`));
    const before = attempts > 1 ? ids.map((id) => `again ${id} run 1`) : [];
    expect(told.sort()).toEqual([...ends, ...before].sort());
    expect([...runs.values()]).toEqual(ids.map(() => attempts));
    const kept = await queue.getJobs([last]);
    expect(kept).toHaveLength(how === "completed and removed" ? 0 : ids.length);
    for (const job of kept)
      expect(job).toMatchObject({ attemptsMade: attempts, stalledCounter: 0 });
    await worker.close();
    await clean(bench);
  });
});
