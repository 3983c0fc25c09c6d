import {
  type Engine,
  FlakyPlan,
  flakyDriver,
  ofCommand,
  slotOf,
  startCluster,
  type TestCluster,
  type TestServer,
  uniqueQueue,
} from "@echomq/testkit";
import { decideFence, type EchoMQError, stampKey, unitKey } from "@echomq/wire";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  addScript,
  countsScript,
  Dispatcher,
  fenceRead,
  finishScript,
  initScript,
  type RedisDriver,
  ServerClock,
  stepScript,
} from "../../src/index.js";
import { Bench, T } from "../support/bench.js";
import { ioredisMakers, type Maker, nodeRedisMakers } from "../support/makers.js";

const engines: Engine[] = ["redis", "valkey"];
const makers = [ioredisMakers[0], nodeRedisMakers.at(-1)].filter(
  (maker): maker is Maker => maker !== undefined,
);

describe.each(engines)("%s", (engine) => {
  let cluster: TestCluster;
  let nodes: Map<TestServer, Redis>;

  beforeAll(async () => {
    cluster = await startCluster({ engine });
    nodes = new Map(cluster.nodes.map((node) => [node, new Redis(node.url)]));
  });

  afterAll(async () => {
    for (const client of nodes?.values() ?? []) client.disconnect();
    await cluster?.stop();
  });

  describe.each(makers)("scripts over $name on a cluster", (maker) => {
    let driver: RedisDriver;
    let plan: FlakyPlan;

    beforeEach(async () => {
      plan = new FlakyPlan();
      driver = flakyDriver(await maker.openCluster(cluster.urls), plan);
    });

    afterEach(() => driver.close());

    /** Counts a command without touching it. */
    const count = (name: string): (() => number) => {
      const rule = plan.on(ofCommand(name), { kind: "offline" }, { times: 0 });
      return () => rule.seen;
    };

    const bench = async (node: TestServer): Promise<Bench> => {
      const q = await cluster.queueOn(node);
      return new Bench(q, nodes.get(node) as Redis, driver);
    };

    /** One opened queue on each node. */
    const threeQueues = async (): Promise<Bench[]> => {
      const queues = await Promise.all(cluster.nodes.map(bench));
      for (const { run, q } of queues) await run.run(initScript, { q, args: { now: T } });
      return queues;
    };

    test("a pipeline over many slots keeps its order, each command its own outcome", async () => {
      const tag = uniqueQueue();
      const keys = Array.from({ length: 40 }, (_, n) => `${tag}:${n}`);
      const owners = await Promise.all(keys.map((key) => cluster.slotOwner(key)));
      expect(new Set(owners).size).toBe(3);
      const commands = keys.flatMap((key, n) => [
        ["SET", key, String(n)],
        n % 10 === 0 ? ["LPUSH", key, "x"] : ["INCR", key],
        ["GET", key],
      ]);
      const outcomes = await driver.pipeline(commands);
      keys.forEach((_, n) => {
        const [set, change, get] = outcomes.slice(n * 3, n * 3 + 3);
        expect(set).toEqual({ ok: true, value: "OK" });
        expect(change?.ok).toBe(n % 10 !== 0);
        expect(get).toEqual({ ok: true, value: String(n % 10 === 0 ? n : n + 1) });
      });
      const gone = await driver.pipeline(keys.map((key) => ["DEL", key]));
      expect(gone.every((one) => one.ok && one.value === 1)).toBe(true);
    });

    test("each node learns a script once, by itself", async () => {
      for (const client of nodes.values()) await client.script("FLUSH");
      const known = (): Promise<unknown[]> =>
        Promise.all([...nodes.values()].map((node) => node.script("EXISTS", countsScript.sha)));
      const queues = await threeQueues();
      const [evals, shas] = [count("EVAL"), count("EVALSHA")];
      const seen: unknown[] = [];
      for (const { run, q } of queues) {
        await run.run(countsScript, { q, args: {} });
        await run.run(countsScript, { q, args: {} });
        seen.push(await known());
      }
      expect(seen).toEqual([
        [[1], [0], [0]],
        [[1], [1], [0]],
        [[1], [1], [1]],
      ]);
      expect([evals(), shas()]).toEqual([3, 6]);
    });

    test("add, claim, settle and retry on queues of three nodes at once", async () => {
      const queues = await threeQueues();
      const ids = Array.from({ length: 50 }, (_, n) => `j${n}`);
      await Promise.all(queues.map((queue) => queue.add(ids)));
      const claims = await Promise.all(queues.map((queue) => queue.claim(50, { candidates: ids })));
      expect(claims).toEqual([ids, ids, ids]);
      const done = ids.slice(0, 40).map((id) => ({ id }));
      const rest = ids.slice(40).map((id) => ({ id, token: "t", how: "retry", atm: 1, ats: 1 }));
      await Promise.all(queues.flatMap((queue) => [queue.step({ done }), queue.finish(rest)]));
      for (const { run, q, redis } of queues) {
        const counts = await run.run(countsScript, { q, args: {} });
        expect(counts).toMatchObject({ waiting: 10, active: 0, completed: 40 });
        // The keys are where the cluster says, so every key of a call was in one slot.
        expect(await redis.zcard(unitKey(q, "completed"))).toBe(40);
      }
    });

    test("each role has a lane of its own to every node; a wait holds up nothing", async () => {
      const queues = await threeQueues();
      const [lease, blocking] = await Promise.all([
        Dispatcher.open(driver, "lease"),
        Dispatcher.open(driver, "blocking"),
      ]);
      const waits = queues.map(({ q }) => {
        const key = unitKey(q, "marker");
        return blocking.command(["BZPOPMIN", key, "20"], { key }, { timeoutMs: 25_000 });
      });
      for (const queue of queues) await queue.add(["one"]);
      const woken = await Promise.all(waits);
      expect(woken).toEqual(queues.map(({ q }) => [unitKey(q, "marker"), "one", "0"]));
      for (const { q } of queues) {
        const counts = await lease.run(countsScript, { q, args: {} });
        expect(counts.waiting).toBe(1);
      }
      await Promise.all([lease.close(), blocking.close("now")]);
    });

    test("the clock of a queue is its node's", async () => {
      const asked = async (redis: Redis): Promise<number> => {
        const stats = await redis.info("commandstats");
        return Number(/cmdstat_time:calls=(\d+)/.exec(stats)?.[1] ?? 0);
      };
      for (const { run, q, redis } of await threeQueues()) {
        const before = await asked(redis);
        expect(await new ServerClock(run, stampKey(q)).exact()).toBeGreaterThan(T);
        expect((await asked(redis)) - before).toBe(1);
      }
    });

    test("the fence reads probes in the slots they lie in", async () => {
      const queues = await threeQueues();
      const read = async ({ run, q }: Bench): Promise<ReturnType<typeof decideFence>> => {
        const { commands, understand } = fenceRead(q);
        return decideFence(understand(await run.readEach(commands)));
      };
      for (const queue of queues) expect(await read(queue)).toMatchObject({ state: "v2" });
      const slots = new Set(
        fenceRead(uniqueQueue()).commands.map(([, key]) => slotOf(String(key))),
      );
      expect(slots.size).toBeGreaterThan(10);
      for (const node of cluster.nodes) {
        const queue = await bench(node);
        expect(await read(queue)).toEqual({ action: "go", state: "empty", opened: false });
        for (const [key, code] of [
          [`bull:${queue.q}:meta`, "V1_KEYSPACE"],
          [`{bull}:${queue.q}:meta`, "V1_KEYSPACE"],
          [`bull:{${queue.q}}:meta`, "V1_KEYSPACE"],
        ] as const) {
          await driver.command(["HSET", key, "version", "bullmq:5.65.1"], { key });
          expect(await read(queue)).toMatchObject({ action: "refuse", code, probe: key });
          await driver.command(["DEL", key], { key });
        }
        const bare = `bull:${queue.q}:id`;
        await driver.command(["SET", bare, "4"], { key: bare });
        expect(await read(queue)).toMatchObject({ action: "refuse", probe: bare });
        await driver.command(["DEL", bare], { key: bare });
      }
    });

    test("adds and claims go on while their slot moves, each job once", async () => {
      const [home, , away] = cluster.nodes as [TestServer, TestServer, TestServer];
      const queue = await bench(home);
      const { run, q } = queue;
      await run.run(initScript, { q, args: { now: T } });
      const ids = Array.from({ length: 200 }, (_, n) => `j${n}`);
      await queue.add(ids.slice(0, 100));
      const claimed: string[] = [];
      const refused: string[] = [];
      let working: Promise<unknown>[] = [];
      await cluster.moveSlot(q, away, {
        batch: 20,
        during: async (moved) => {
          // Without retries, every call while both nodes have a part of the keys says so.
          await run
            .run(countsScript, { q, args: {} }, { retryMs: 0 })
            .catch((error: EchoMQError) => {
              refused.push(error.code);
            });
          if (moved > 0) return;
          working = ids.slice(100).map((id) => queue.add([id]));
          working.push(queue.claim(50).then((got) => claimed.push(...got)));
        },
      });
      await Promise.all(working);
      while (claimed.length < 200) claimed.push(...(await queue.claim(50)));
      expect(new Set(claimed).size).toBe(200);
      expect(new Set(refused)).toEqual(new Set(["TRYAGAIN"]));
      expect(await cluster.slotOwner(q)).toBe(away);
      expect(await run.run(countsScript, { q, args: {} })).toMatchObject({
        waiting: 0,
        active: 200,
      });
      const none = { now: T, keepCount: 0, keepAge: 0, rateMax: 0, rateMs: 0 };
      const done = await run.run(stepScript, {
        q,
        args: { ...none, claim: 0, deadline: T, token: "", begun: 0, hints: 0 },
        candidates: [],
        done: ids,
        results: ids.map(() => ({ token: "t", atm: 1, ats: 1, value: "1" })),
      });
      expect(new Set(done.statuses)).toEqual(new Set(["ok"]));
      expect(await run.run(countsScript, { q, args: {} })).toMatchObject({ active: 0 });
    });

    test("a queue with nothing in it is opened on the node its slot moves to", async () => {
      const [home, away] = cluster.nodes as [TestServer, TestServer];
      const { q, run } = await bench(home);
      await cluster.moveSlot(q, away, {
        during: async () => {
          // All keys are missing at the old node, so it sends the client on: `ASK`.
          await driver.command(["SET", `{${q}}`, "asked"], { key: `{${q}}` });
        },
      });
      expect(await nodes.get(away)?.get(`{${q}}`)).toBe("asked");
      await run.run(initScript, { q, args: { now: T } });
      expect(await run.run(countsScript, { q, args: {} })).toMatchObject({ waiting: 0 });
    });

    test("a lost reply on one node is no second add, and its neighbours notice nothing", async () => {
      const [first, second] = (await threeQueues()) as [Bench, Bench];
      plan.on(
        ({ name, command }) => {
          return (
            name === "EVALSHA" &&
            command[1] === addScript.sha &&
            command.includes(stampKey(first.q))
          );
        },
        { kind: "lost" },
      );
      await second.add(["warm"]);
      await first.add(["warm"]);
      expect(await first.add(["warm", "next"])).toHaveLength(2);
      const counts = await first.run.run(countsScript, { q: first.q, args: {} });
      expect(counts.waiting).toBe(2);
      plan.on(ofCommand("EVALSHA"), { kind: "lost" });
      const finish = {
        q: first.q,
        jobs: ["warm"],
        dedups: [],
        args: { now: T, keepCount: 1, keepAge: 0, failCount: 1, failAge: 0 },
      };
      const items = [
        {
          token: "t",
          how: "release",
          atm: 0,
          ats: 0,
          delay: 0,
          value: "",
          stack: "",
          lock: 0,
          letter: "",
        },
      ];
      await expect(first.run.run(finishScript, { ...finish, items })).rejects.toMatchObject({
        code: "CONNECTION_LOST",
      });
    });
  });

  // These cost a cluster each: one client on each engine.
  const one = makers.filter((_, at) => at === engines.indexOf(engine));

  test.each(one)("$name: a node that dies takes only its own queues along", async (maker) => {
    await using own = await startCluster({
      engine,
      args: ["--cluster-require-full-coverage", "no", "--appendonly", "yes"],
    });
    const [dying, living] = own.nodes as [TestServer, TestServer];
    const driver = await maker.openCluster(own.urls);
    const run = Dispatcher.over(driver);
    const [lost, kept] = [await own.queueOn(dying), await own.queueOn(living)];
    for (const q of [lost, kept]) await run.run(initScript, { q, args: { now: T } });
    await dying.kill();
    const call = { q: lost, args: {} };
    const error = await run.run(countsScript, call, { retryMs: 300 }).catch((one: unknown) => one);
    expect(["CONNECTION_LOST", "CLUSTERDOWN"]).toContain((error as EchoMQError).code);
    expect((error as EchoMQError).transient).toBe(true);
    expect(await run.run(countsScript, { q: kept, args: {} })).toMatchObject({ waiting: 0 });
    const patient = run.run(countsScript, call, { retryMs: 20_000 });
    await dying.restart();
    expect(await patient).toMatchObject({ waiting: 0 });
    await driver.close();
  });

  test.each(makers)(
    "$name: a promoted replica has the queue, nothing is doubled",
    async (maker) => {
      await using own = await startCluster({ engine, replicas: 1 });
      const [master] = own.nodes as [TestServer];
      const [replica] = own.replicas as [TestServer];
      const driver = await maker.openCluster(own.urls);
      const run = Dispatcher.over(driver);
      const q = await own.queueOn(master);
      await run.run(initScript, { q, args: { now: T } });
      const bench = new Bench(q, new Redis(replica.url, { lazyConnect: true }), driver);
      await bench.add(["a", "b"]);
      const [added] = await Promise.all([
        Promise.all(Array.from({ length: 50 }, (_, n) => bench.add([`n${n}`]))),
        own.failover(replica),
      ]);
      expect(added).toHaveLength(50);
      expect(await bench.claim(100)).toHaveLength(52);
      expect(await own.slotOwner(q)).toBe(replica);
      await driver.close();
    },
  );
});
