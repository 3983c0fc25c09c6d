import { type Engine, startServer, type TestServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  countsScript,
  Dispatcher,
  type DispatcherOptions,
  initScript,
  type RedisDriver,
  stepScript,
} from "../../src/index.js";
import { ioredisDriver } from "../../src/ioredis/index.js";
import {
  ALL,
  type Bench,
  closeBench,
  ENGINES,
  openBench,
  openDriver,
  T,
} from "../support/bench.js";
import { countingProxy } from "../support/proxy.js";

const CALLS = /^cmdstat_(eval|evalsha):calls=(\d+)/gm;

/** How often EVALSHA and EVAL ran since the last reset, failed ones included. */
async function calls(redis: Redis): Promise<Record<string, number>> {
  const stats = String(await redis.info("commandstats"));
  return Object.fromEntries(
    [...stats.matchAll(CALLS)].map(([, name, count]) => [name, Number(count)]),
  );
}

const step = (q: string) => ({
  q,
  args: {
    now: T,
    claim: 1,
    deadline: T + 9,
    token: "t",
    begun: 1,
    hints: 0,
    keepCount: ALL,
    keepAge: 0,
    rateMax: 0,
    rateMs: 0,
  },
  done: [],
  candidates: [],
  results: [],
});

async function opened(url: string, options: DispatcherOptions = {}): Promise<Dispatcher> {
  const driver = await openDriver(url);
  const dispatcher = await Dispatcher.open(driver, "lease", options);
  onTestFinished(async () => {
    await dispatcher.close("now");
    await driver.close("now");
  });
  return dispatcher;
}

async function own(engine: Engine, args: readonly string[] = []): Promise<TestServer> {
  const server = await startServer({ engine, args });
  onTestFinished(() => server.stop());
  return server;
}

function admin(url: string): Redis {
  const redis = new Redis(url);
  redis.on("error", () => undefined);
  onTestFinished(() => redis.disconnect());
  return redis;
}

describe.each(ENGINES)("the dispatcher on %s", (engine) => {
  let server: TestServer;
  let base: Bench;
  let b: Bench;
  beforeAll(async () => {
    server = await startServer({ engine });
    base = await openBench(engine, server.url);
  });
  beforeEach(async () => {
    b = await base.fresh();
  });
  afterAll(async () => {
    await closeBench(base);
    await server?.stop();
  });

  const counts = (d: Dispatcher, options = {}) =>
    d.run(countsScript, { q: b.q, args: {} }, options);

  test("one EVALSHA where the script is known, and EVAL once where it is not", async () => {
    const d = await opened(server.url);
    await b.redis.script("FLUSH");
    await b.redis.config("RESETSTAT");
    await counts(d);
    expect(await calls(b.redis)).toEqual({ evalsha: 1, eval: 1 });
    await counts(d);
    await counts(d);
    expect(await calls(b.redis)).toEqual({ evalsha: 3, eval: 1 });
    await b.redis.script("FLUSH");
    await counts(d);
    expect(await calls(b.redis)).toEqual({ evalsha: 4, eval: 2 });
  });

  test("SCRIPT FLUSH in the middle of a hundred calls loses none", async () => {
    const d = await opened(server.url);
    const flushing = Promise.all(Array.from({ length: 20 }, () => b.redis.script("FLUSH")));
    const all = await Promise.all(Array.from({ length: 100 }, () => counts(d)));
    await flushing;
    expect(new Set(all.map(({ waiting }) => waiting))).toEqual(new Set([0]));
  });

  test("a script that is not repeatable also goes through EVAL", async () => {
    const d = await opened(server.url);
    await b.add(["a"]);
    await b.redis.script("FLUSH");
    expect((await d.run(stepScript, step(b.q))).claimed).toHaveLength(1);
  });

  test("a refusal is the script's own class and names the operation", async () => {
    const d = await opened(server.url);
    await b.redis.del(b.stamp);
    await expect(counts(d, { op: "Queue.counts" })).rejects.toMatchObject({
      name: "WireError",
      code: "EMQFENCE",
      detail: "none",
      op: "Queue.counts",
      transient: false,
    });
    await b.redis.set(b.unit("wait"), "x");
    await b.redis.set(b.stamp, "echomq:2.0.0");
    await expect(counts(d)).rejects.toMatchObject({ code: "WRONGTYPE", transient: false });
  });

  test("a connection killed between calls is made good, also for what is not repeatable", async () => {
    const d = await opened(server.url);
    const id = await d.command(["CLIENT", "ID"]);
    await b.add(["a"]);
    await b.redis.client("KILL", "ID", Number(id));
    expect((await d.run(stepScript, step(b.q))).claimed).toHaveLength(1);
    expect(d.epoch).toBe(2);
    expect(d.ready).toBe(true);
  });

  test("the reply lost on the way: what may be repeated is, `step` says CONNECTION_LOST", async () => {
    const proxy = await countingProxy(server.url);
    onTestFinished(() => proxy.end());
    const d = await opened(proxy.url);
    await b.add(["a", "b"]);
    for (const repeatable of [true, false]) {
      await b.redis.config("RESETSTAT");
      proxy.mute(true);
      const call = repeatable ? counts(d) : d.run(stepScript, step(b.q));
      const outcome = call.then(
        (reply) => reply,
        (error: unknown) => error,
      );
      await expect.poll(async () => (await calls(b.redis)).evalsha).toBe(1);
      proxy.cut();
      proxy.mute(false);
      if (repeatable) expect(await outcome).toHaveProperty("waiting", 2);
      else expect(await outcome).toMatchObject({ code: "CONNECTION_LOST", transient: true });
    }
    // It ran once all the same: the outcome was unknown, not undone.
    expect(await b.set("active")).toEqual(["a"]);
    expect(await b.waiting()).toEqual(["b"]);
    expect((await d.run(stepScript, step(b.q))).claimed).toMatchObject([{ id: "b" }]);
  });

  test("a silent server: TIMEOUT, then another connection, and the lane works again", async () => {
    const d = await opened(server.url, { timeoutMs: 200, retryMs: 0 });
    const before = await d.command(["CLIENT", "ID"]);
    await server.kill("SIGSTOP");
    const late = [counts(d), d.run(stepScript, step(b.q))];
    const settled = await Promise.allSettled(late);
    await server.kill("SIGCONT");
    // The first to be late gives the connection up; what else was on it is late too, or lost with it.
    const codes = settled.map((one) => one.status === "rejected" && one.reason.code);
    expect(codes).toContain("TIMEOUT");
    for (const one of settled) {
      expect(one).toMatchObject({
        status: "rejected",
        reason: { code: expect.stringMatching(/^(TIMEOUT|CONNECTION_LOST)$/), transient: true },
      });
    }
    await expect.poll(() => d.ready).toBe(true);
    await d.run(stepScript, step(b.q), { timeoutMs: 5_000, retryMs: 5_000 });
    expect(await d.command(["CLIENT", "ID"], {}, { timeoutMs: 5_000 })).not.toBe(before);
    expect(d.epoch).toBeGreaterThan(1);
  });

  test("a paused server: what may be repeated is answered once it goes on", async () => {
    const d = await opened(server.url, { timeoutMs: 300, retryMs: 20_000 });
    await b.redis.client("PAUSE", 800, "ALL");
    expect(await counts(d)).toHaveProperty("waiting", 0);
  });

  test("a lane that could not be opened anew in time is opened by the next call", async () => {
    const away = await own(engine);
    const client = new Redis(away.url, { lazyConnect: true });
    const short = await ioredisDriver(client, { connectTimeoutMs: 200 });
    const d = await Dispatcher.open(short, "lease", { timeoutMs: 200, retryMs: 0 });
    onTestFinished(async () => {
      await d.close("now");
      await short.close("now");
    });
    await d.run(initScript, { q: b.q, args: { now: T } });
    await away.kill("SIGSTOP");
    await expect(d.run(stepScript, step(b.q))).rejects.toMatchObject({ code: "TIMEOUT" });
    // The replacement fails too, for as long as nobody answers.
    await expect.poll(() => d.replaceConnection().then(() => d.ready)).toBe(false);
    await away.kill("SIGCONT");
    await expect
      .poll(
        () =>
          d.run(stepScript, step(b.q)).then(
            () => "answered",
            () => "not yet",
          ),
        {
          timeout: 10_000,
        },
      )
      .toBe("answered");
  });

  test("no server: a typed CONNECTION_LOST within the retry budget, then it works again", async () => {
    const away = await own(engine);
    const d = await opened(away.url, { retryMs: 300 });
    await d.run(initScript, { q: b.q, args: { now: T } });
    await away.kill();
    for (const call of [() => counts(d), () => d.run(stepScript, step(b.q))]) {
      await expect(call()).rejects.toMatchObject({ code: "CONNECTION_LOST", transient: true });
    }
    const waiting = d.run(initScript, { q: b.q, args: { now: T } }, { retryMs: 20_000 });
    await away.restart();
    expect(await waiting).toBe("created");
    expect((await d.run(stepScript, step(b.q), { retryMs: 20_000 })).reason).toBe("empty");
  });

  test("a call that is given up by its signal stops at once and is not sent again", async () => {
    const away = await own(engine);
    const d = await opened(away.url, { retryMs: 60_000 });
    await away.kill();
    const abort = new AbortController();
    const call = counts(d, { signal: abort.signal });
    const lost = expect(call).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    abort.abort();
    await lost;
  });

  test("a closed dispatcher answers at once", async () => {
    const d = await opened(server.url, { retryMs: 60_000 });
    await d.close();
    await expect(counts(d)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    await expect(d.run(stepScript, step(b.q))).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("a call in flight keeps its deadline when the dispatcher over it closes", async () => {
    const proxy = await countingProxy(server.url);
    onTestFinished(() => proxy.end());
    const driver = await openDriver(proxy.url);
    onTestFinished(() => driver.close("now"));
    const d = Dispatcher.over(driver, { timeoutMs: 300, retryMs: 60_000 });
    proxy.mute(true);
    const call = expect(counts(d)).rejects.toMatchObject({ code: "TIMEOUT" });
    await d.close();
    await call;
    // `over` leaves the driver to its owner.
    expect(driver.state.status).not.toBe("closed");
  });

  test("the hook is told before and after, and may fail the call", async () => {
    const told: string[] = [];
    const d = await opened(server.url, {
      hook: (phase, script) => void told.push(`${phase} ${script}`),
    });
    await counts(d);
    expect(told).toEqual(["before counts", "after counts"]);
    const hook = async (): Promise<void> => {
      throw new Error("hook");
    };
    await expect(counts(await opened(server.url, { hook }))).rejects.toThrow("hook");
  });

  test("reads: each its own outcome, or the first error of all; typed, in order", async () => {
    const d = await opened(server.url);
    await b.redis.rpush(b.unit("wait"), "x");
    const commands = [
      ["GET", b.stamp],
      ["GET", b.unit("wait")],
      ["LLEN", b.unit("wait")],
    ];
    const each = await d.readEach(commands);
    expect(each.map(({ ok }) => ok)).toEqual([true, false, true]);
    await expect(d.readMany(commands)).rejects.toMatchObject({ code: "WRONGTYPE", op: "read" });
    expect(await d.readMany(commands.filter((_, at) => at !== 1))).toEqual(["echomq:2.0.0", 1]);
    expect(await d.readMany([])).toEqual([]);
  });

  test("reads that lost their connection are sent again, whole", async () => {
    const d = await opened(server.url);
    const id = await d.command(["CLIENT", "ID"]);
    await b.redis.client("KILL", "ID", Number(id));
    expect(
      await d.readMany([
        ["GET", b.stamp],
        ["GET", b.stamp],
      ]),
    ).toEqual(["echomq:2.0.0", "echomq:2.0.0"]);
  });

  test("a replica is READONLY, and found again as a primary", async () => {
    const replica = await own(engine);
    const redis = admin(replica.url);
    const d = await opened(replica.url, { retryMs: 0 });
    await d.run(initScript, { q: b.q, args: { now: T } });
    await redis.call("REPLICAOF", "127.0.0.1", "1");
    await redis.call("CONFIG", "SET", "replica-serve-stale-data", "yes");
    const pausing = d.run(initScript, { q: "other", args: { now: T } });
    await expect(pausing).rejects.toMatchObject({ code: "READONLY", transient: true });
    const again = d.run(initScript, { q: "other", args: { now: T } }, { retryMs: 20_000 });
    await redis.call("REPLICAOF", "NO", "ONE");
    expect(await again).toBe("created");
    expect(d.epoch).toBeGreaterThan(1);
  });

  test("a replica without data and without its primary is MASTERDOWN", async () => {
    const replica = await own(engine, ["--replica-serve-stale-data", "no"]);
    const d = await opened(replica.url, { retryMs: 0 });
    await admin(replica.url).call("REPLICAOF", "127.0.0.1", "1");
    await expect(counts(d)).rejects.toMatchObject({ code: "MASTERDOWN", transient: true });
  });

  test("a loading server is LOADING, and the call goes through once it has loaded", async () => {
    const slow = await own(engine, [
      "--key-load-delay",
      "5000",
      "--loading-process-events-interval-bytes",
      "1024",
    ]);
    const redis = admin(slow.url);
    const d = await opened(slow.url, { retryMs: 0 });
    await d.run(initScript, { q: b.q, args: { now: T } });
    await redis.call("DEBUG", "POPULATE", "150");
    const reload = redis.call("DEBUG", "RELOAD");
    const codes = new Set<string>();
    await expect
      .poll(async () => {
        const error = await counts(d).then(
          () => ({ code: "ok" }),
          (reason: { code: string }) => reason,
        );
        return codes.add(error.code).has("LOADING");
      })
      .toBe(true);
    expect(await counts(d, { retryMs: 20_000 })).toHaveProperty("waiting", 0);
    await reload;
  });

  test("a busy server is BUSY and tried again", async () => {
    const busy = await own(engine, ["--busy-reply-threshold", "10"]);
    const redis = admin(busy.url);
    const killer = admin(busy.url);
    await killer.ping();
    const d = await opened(busy.url, { retryMs: 0 });
    await d.run(initScript, { q: b.q, args: { now: T } });
    const endless = redis.eval("while true do end", 0).catch(() => undefined);
    await expect
      .poll(() =>
        counts(d, { timeoutMs: 2_000 }).then(
          () => "",
          (error: { code: string }) => error.code,
        ),
      )
      .toBe("BUSY");
    const again = counts(d, { retryMs: 20_000 });
    await killer.script("KILL");
    expect(await again).toHaveProperty("waiting", 0);
    await endless;
  });

  test("rights taken away are NOPERM and NOAUTH, which no waiting heals", async () => {
    const guarded = await own(engine);
    const redis = admin(guarded.url);
    await redis.call("ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all");
    const d = await opened(guarded.url.replace("//", "//app:pw@"), { retryMs: 60_000 });
    await d.run(initScript, { q: b.q, args: { now: T } });
    await redis.call("ACL", "SETUSER", "app", "-evalsha");
    await expect(counts(d)).rejects.toMatchObject({ code: "NOPERM", transient: false });
    await redis.call("ACL", "SETUSER", "app", "+evalsha", "resetkeys", "~none*");
    await expect(counts(d)).rejects.toMatchObject({ code: "NOPERM", transient: false });
    await redis.call("CONFIG", "SET", "requirepass", "x");
    await expect(openDriver(guarded.url)).rejects.toMatchObject({
      message: expect.stringMatching(/^NOAUTH /),
    });
    await expect(
      Dispatcher.open(
        failing(await openDriver(server.url), "NOAUTH Authentication required."),
        "main",
      ),
    ).rejects.toMatchObject({ code: "NOAUTH", op: "connect" });
  });
});

/** A driver whose forks the server refuses. */
function failing(driver: RedisDriver, text: string): RedisDriver {
  onTestFinished(() => driver.close("now"));
  const fork = async (): Promise<never> => {
    throw Object.assign(new Error(text), { fault: "reply" });
  };
  return Object.assign(Object.create(driver) as RedisDriver, { fork });
}
