import { type AddressInfo, createServer, type Socket } from "node:net";
import { freePort, LeakCheck, startProxy, type TcpProxy } from "@echomq/testkit";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type ConnectionOption,
  Queue,
  QueueEvents,
  QueueEventsProducer,
  Worker,
} from "../../src/index.js";
import { Bench, type DriverName, gate } from "../support/bench.js";
import { settles, until } from "../support/until.js";

const DRIVERS: readonly DriverName[] = ["ioredis", "node-redis"];
/** What closing may take beyond its timeout, with room for a busy machine: a hang is longer. */
const BOUND_MS = 14_000;
/** Connecting and retrying end soon, so a test need not wait for them. */
const QUICK = { retryTime: 500, commandTimeout: 500 } as const;

/** A client as a user has one. It need not be connected and is only read. */
function clientOf(driver: DriverName, url: string): ConnectionOption {
  if (driver === "node-redis") return createClient({ url }) as unknown as ConnectionOption;
  return new Redis(url, { lazyConnect: true });
}

/** The four things that hold a connection, on one queue. */
class Four {
  readonly worker: Worker;
  readonly queue: Queue;
  readonly events: QueueEvents;
  readonly producer: QueueEventsProducer;
  readonly reasons: unknown[] = [];
  begun = 0;

  constructor(name: string, connection: ConnectionOption, autorun = true) {
    const options = { connection, ...QUICK };
    this.worker = new Worker(
      name,
      async (_job, { signal }) => {
        this.begun += 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        this.reasons.push((signal.reason as { code?: string }).code);
        throw signal.reason;
      },
      { ...options, autorun, concurrency: 2 },
    );
    this.worker.on("error", () => undefined);
    this.queue = new Queue(name, options);
    this.events = new QueueEvents(name, { ...options, autorun });
    this.events.on("error", () => undefined);
    this.producer = new QueueEventsProducer(name, options);
  }

  /** Two jobs run, one waits, everything is connected. */
  async run(): Promise<void> {
    await this.queue.addBulk([1, 2, 3].map((data) => ({ name: "x", data })));
    await this.producer.publishEvent({ eventName: "hello" });
    await this.events.waitUntilReady();
    await until("two run", () => this.begun === 2);
  }

  /** Calls that meet the trouble; how they end is not of interest here. */
  call(): void {
    for (const call of [
      () => this.queue.add("late", 0),
      () => this.queue.getJobCounts(),
      () => this.producer.publishEvent({ eventName: "late" }),
      () => this.worker.rateLimit(1),
    ]) {
      call().catch(() => undefined);
    }
  }

  /** Closes all at once, twice, and each settles. */
  async close(): Promise<void> {
    const { worker, queue, events, producer } = this;
    const closing = [
      worker.close({ timeout: 50 }),
      queue.close(),
      events.close(),
      producer.close(),
    ];
    await settles("close", Promise.all(closing), BOUND_MS + 5_000);
    const again = [worker.close(), queue.close(), events.close(), producer.close()];
    await settles("close again", Promise.all(again), BOUND_MS);
    for (const call of [
      () => queue.add("x", 0),
      () => worker.run(),
      () => events.run(),
      () => producer.publishEvent({ eventName: "x" }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "CLOSED" });
    }
  }
}

/** What the server stands for while something is closed on it. */
interface Place {
  readonly bench: Bench;
  readonly proxy: TcpProxy;
  readonly driver: DriverName;
}

/** A server that accepts connections and never answers. */
async function silentServer(): Promise<{ readonly url: string; end(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  onTestFinished(end);
  const { port } = server.address() as AddressInfo;
  return { url: `redis://127.0.0.1:${port}`, end };
}

describe.each(DRIVERS)("close settles and leaves no handle, %s", (driver) => {
  async function open(): Promise<Place> {
    const bench = await Bench.own();
    const proxy = await startProxy({ port: bench.server.port });
    onTestFinished(() => proxy.close());
    await bench.client.ping();
    return { bench, proxy, driver };
  }

  /** What waits and what is active, told by another connection. */
  const places = async ({ bench }: Place): Promise<[number, number]> => [
    await bench.client.llen(bench.key("wait")),
    await bench.client.zcard(bench.key("active")),
  ];

  test("never connected", async () => {
    const { bench } = await open();
    const check = await LeakCheck.start(bench.url);
    await new Four(bench.name, clientOf(driver, bench.url), false).close();
    await check.end();
  });

  test.each(["nobody listens", "nobody answers"])("connecting where %s", async (what) => {
    const { bench } = await open();
    const check = await LeakCheck.start(bench.url);
    const silent = await silentServer();
    const dead = `redis://127.0.0.1:${await freePort()}`;
    const four = new Four(
      bench.name,
      clientOf(driver, what === "nobody listens" ? dead : silent.url),
    );
    four.call();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await four.close();
    silent.end();
    await check.end();
  });

  test("connected and working, its jobs given back", async () => {
    const place = await open();
    const check = await LeakCheck.start(place.bench.url);
    const four = new Four(place.bench.name, clientOf(driver, place.bench.url));
    await four.run();
    await four.close();
    expect(four.reasons).toEqual(["WORKER_CLOSING", "WORKER_CLOSING"]);
    expect(await places(place)).toEqual([3, 0]);
    await check.end();
  });

  test("connected and idle", async () => {
    const place = await open();
    const check = await LeakCheck.start(place.bench.url);
    const four = new Four(place.bench.name, clientOf(driver, place.bench.url));
    await four.worker.waitUntilReady();
    await four.events.waitUntilReady();
    await until("it waits", async () =>
      /cmd=bzpopmin/.test(String(await place.bench.client.client("LIST"))),
    );
    await four.close();
    await check.end();
  });

  test("reconnecting, while nobody listens any more", async () => {
    const { bench, proxy } = await open();
    const check = await LeakCheck.start(bench.url);
    const four = new Four(bench.name, clientOf(driver, proxy.url));
    await four.run();
    await proxy.close();
    four.call();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await four.close();
    await check.end();
  });

  test("half open: nothing is forwarded and nothing is told", async () => {
    const { bench, proxy } = await open();
    const check = await LeakCheck.start(bench.url);
    const four = new Four(bench.name, clientOf(driver, proxy.url));
    await four.run();
    proxy.halfOpen();
    four.call();
    await four.close();
    expect(four.reasons).toEqual(["WORKER_CLOSING", "WORKER_CLOSING"]);
    await proxy.close();
    await check.end();
  });

  test("reconnecting in time to give its jobs back", async () => {
    const place = await open();
    const { bench, proxy } = place;
    const check = await LeakCheck.start(bench.url);
    const four = new Four(bench.name, clientOf(driver, proxy.url));
    await four.run();
    proxy.cut();
    await four.close();
    await until("they are back", async () => String(await places(place)) === "3,0");
    await proxy.close();
    await check.end();
  });

  test.each(["working", "starting"])("while the server loads its data, %s", async (how) => {
    const place = await open();
    const { bench } = place;
    const filler = bench.client.pipeline();
    for (let n = 0; n < 500; n += 1) filler.set(`filler-${n}`, "x".repeat(100));
    await filler.exec();
    await bench.client.config("SET", "loading-process-events-interval-bytes", "1024");
    const check = await LeakCheck.start(bench.url);
    const four = new Four(bench.name, clientOf(driver, bench.url));
    if (how === "working") await four.run();
    await bench.client.config("SET", "key-load-delay", "1000");
    const reload = bench.client.call("DEBUG", "RELOAD");
    four.call();
    await four.close();
    await reload;
    if (how === "working") {
      expect((await places(place))[1]).toBe(0);
      expect(four.reasons).toEqual(["WORKER_CLOSING", "WORKER_CLOSING"]);
    }
    await check.end();
  });
});

describe("a deploy of ten workers", () => {
  const LONG = { lockDuration: 3_600_000, stalledInterval: 3_600_000 } as const;
  const WORKERS = 10;

  /** Starts a worker, then ends the oldest, ten times over, while jobs come and run. */
  async function deploy(
    timeout: number,
  ): Promise<{ runs: Map<string, number>; stalled: string[]; failed: unknown[] }> {
    const bench = await Bench.own();
    const queue = bench.queue({ defaultJobOptions: { removeOnComplete: false, attempts: 1 } });
    const runs = new Map<string, number>();
    const stalled: string[] = [];
    const failed: unknown[] = [];
    const start = (holds: boolean): Worker => {
      const worker = bench.worker(
        async (job, { signal }) => {
          const run = (runs.get(job.id) ?? 0) + 1;
          runs.set(job.id, run);
          const { opened, open } = gate();
          signal.addEventListener("abort", open);
          // Without time to end, some run until their worker is closed.
          if (timeout > 0 || !holds || run > 1 || (job.data as number) % 25 > 0) {
            setTimeout(open, (job.data as number) % 5);
          }
          await opened;
          signal.throwIfAborted();
          return job.data;
        },
        // No lease ends during the test: what is not given back is never done.
        { concurrency: 4, ...LONG },
      );
      worker.on("stalled", (id) => stalled.push(id));
      worker.on("failed", (job) => failed.push(job.id));
      worker.on("lost", (job) => failed.push(job.id));
      return worker;
    };
    const old = Array.from({ length: WORKERS }, () => start(true));
    await Promise.all(old.map((worker) => worker.waitUntilReady()));
    const adds: Promise<{ readonly id: string }>[] = [];
    const closing: Promise<void>[] = [];
    for (const worker of old) {
      for (let n = 0; n < 100; n += 1) adds.push(queue.add("x", adds.length));
      const next = start(false);
      await next.waitUntilReady();
      await until("work goes on", async () => (await bench.completed()) >= adds.length - 90);
      closing.push(settles("Worker.close", worker.close({ timeout }), BOUND_MS));
    }
    await Promise.all(closing);
    const ids = (await Promise.all(adds)).map(({ id }) => id);
    await until("all are done", async () => (await bench.completed()) === ids.length);
    expect(new Set(ids)).toEqual(new Set(runs.keys()));
    expect(await queue.getJobCounts()).toMatchObject({ waiting: 0, active: 0, failed: 0 });
    for (const job of await queue.getCompleted()) {
      expect(job).toMatchObject({ attemptsMade: 1, stalledCounter: 0, returnvalue: job.data });
    }
    expect((await queue.doctor()).findings).toEqual([]);
    return { runs, stalled, failed };
  }

  test("that lets jobs end: each runs once, none waits for a lease", async () => {
    const { runs, stalled, failed } = await deploy(30_000);
    expect([stalled, failed]).toEqual([[], []]);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
  });

  test("that does not wait: what ran is given back, charged nothing and done by the next", async () => {
    const { runs, stalled, failed } = await deploy(0);
    expect([stalled, failed]).toEqual([[], []]);
    expect([...runs.values()].some((count) => count > 1)).toBe(true);
  });
});
