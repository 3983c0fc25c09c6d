import { freePort, LeakCheck, sharedServer, startServer, uniqueQueue } from "@echomq/testkit";
import { isEchoMQError } from "@echomq/wire";
import { describe, expect, onTestFinished, test } from "vitest";
import { isDriverFault, type RedisDriver } from "../../src/driver/types.js";
import { type DriverFactory, runDriverKit } from "../../src/driver-kit/index.js";
import { type Maker, silentServer } from "./makers.js";
import { countingProxy } from "./proxy.js";

/** The conformance kit and what only these adapters promise, for one client library. */
export function adapterTests(makers: readonly Maker[]): void {
  for (const maker of makers) {
    for (const engine of ["redis", "valkey"] as const) {
      describe(`${maker.name} on ${engine}`, () => {
        runDriverKit(factoryOf(maker, engine), { test });
      });
    }
    describe(maker.name, () => ownPromises(maker));
  }
}

function factoryOf(maker: Maker, engine: "redis" | "valkey"): DriverFactory {
  return {
    open: async () => maker.open((await sharedServer(engine)).url),
    unreachable: async () => maker.open(`redis://127.0.0.1:${await freePort()}`, 300),
    async outage() {
      const server = await startServer({ engine });
      return {
        open: () => maker.open(server.url),
        stop: () => server.kill(),
        start: () => server.restart(),
        end: () => server.stop(),
      };
    },
  };
}

function owned(driver: RedisDriver): RedisDriver {
  onTestFinished(() => driver.close("now"));
  return driver;
}

async function faultOf(call: Promise<unknown>): Promise<{ fault: string; message: string }> {
  const error: unknown = await call.then(
    () => undefined,
    (reason) => reason,
  );
  if (!isDriverFault(error)) throw new Error(`expected a fault, got ${String(error)}`);
  return error;
}

async function refusedAsLoading(driver: RedisDriver): Promise<boolean> {
  const error: unknown = await driver.command(["GET", "1"]).catch((reason: unknown) => reason);
  return isDriverFault(error, "reply") && error.message.startsWith("LOADING ");
}

function ownPromises(maker: Maker): void {
  test("a client with keyPrefix is refused by name", async () => {
    const error = await maker
      .from({ ...prefixed(maker), duplicate() {}, call() {}, sendCommand() {} })
      .catch((reason: unknown) => reason);
    expect(isEchoMQError(error, "CONFIG")).toBe(true);
    expect(String(error)).toContain("keyPrefix");
  });

  test("something that is no client is refused", async () => {
    const error = await maker.from({}).catch((reason: unknown) => reason);
    expect(isEchoMQError(error, "CONFIG")).toBe(true);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 31])("connectTimeoutMs %d is refused", async (ms) => {
    const error = await maker.open("redis://127.0.0.1:1", ms).catch((reason: unknown) => reason);
    expect(isEchoMQError(error, "VALIDATION")).toBe(true);
    expect(String(error)).toContain("connectTimeoutMs");
  });

  test("the given client is only read", async () => {
    const { url } = await sharedServer("redis");
    const { client, end } = maker.client(url);
    const before = JSON.stringify(Reflect.get(client, "options"));
    const driver = owned(await maker.from(client));
    const fork = owned(await driver.fork("lease"));
    await fork.close();
    await driver.close();
    expect(JSON.stringify(Reflect.get(client, "options"))).toBe(before);
    expect(Reflect.get(client, "status") ?? Reflect.get(client, "isOpen")).toBeOneOf([
      "wait",
      false,
    ]);
    end();
  });

  test("lanes speak RESP2 and are named after their role", async () => {
    const driver = owned(await maker.open((await sharedServer("redis")).url));
    const lease = owned(await driver.fork("lease"));
    const id = await lease.command(["CLIENT", "ID"]);
    const list = String(await driver.command(["CLIENT", "LIST", "ID", String(id)]));
    expect(list).toMatch(/ name=echomq:lease /);
    expect(list).toMatch(/ resp=2(\s|$)/);
  });

  test("a pipeline, and commands of one tick, leave in one write", async () => {
    const proxy = await countingProxy((await sharedServer("redis")).url);
    onTestFinished(() => proxy.end());
    const driver = owned(await maker.open(proxy.url));
    const key = `{${uniqueQueue()}}:n`;
    proxy.reset();
    await driver.pipeline(Array.from({ length: 50 }, () => ["INCR", key]));
    expect(proxy.chunks()).toBe(1);
    await Promise.all(Array.from({ length: 50 }, () => driver.command(["INCR", key])));
    expect(proxy.chunks()).toBe(2);
    await driver.command(["DEL", key]);
  });

  test("a command whose reply was lost ran once and stays lost", async () => {
    const { url } = await sharedServer("redis");
    const proxy = await countingProxy(url);
    onTestFinished(() => proxy.end());
    const [driver, direct] = [owned(await maker.open(proxy.url)), owned(await maker.open(url))];
    const key = `{${uniqueQueue()}}:n`;
    proxy.mute(true);
    const lost = faultOf(driver.command(["INCR", key]));
    await expect.poll(() => direct.command(["GET", key])).toBe("1");
    proxy.cut();
    proxy.mute(false);
    expect((await lost).fault).toBe("connection");
    await expect.poll(() => driver.state.epoch, { timeout: 10_000 }).toBe(2);
    await driver.command(["PING"]);
    expect(await direct.command(["GET", key])).toBe("1");
    await direct.command(["DEL", key]);
  });

  test("refused credentials are the server's words, not a hang", async () => {
    await using server = await startServer({ args: ["--requirepass", "right"] });
    const wrong = server.url.replace("//", "//:wrong@");
    expect(await faultOf(maker.open(wrong))).toMatchObject({
      fault: "reply",
      message: expect.stringMatching(/^WRONGPASS /),
    });
    expect(await faultOf(maker.open(server.url))).toMatchObject({
      fault: "reply",
      message: expect.stringMatching(/^NOAUTH /),
    });
    const driver = owned(await maker.open(server.url.replace("//", "//:right@")));
    expect(await driver.command(["PING"])).toBe("PONG");
    await driver.command(["CONFIG", "SET", "requirepass", "other"]);
    await driver.command(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"]);
    await expect.poll(() => driver.state.error?.message).toMatch(/^WRONGPASS /);
    expect(driver.state.status).toBe("reconnecting");
    await driver.close();
  });

  test("a database out of range is not silently database 0", async () => {
    const { url } = await sharedServer("redis");
    const fault = await faultOf(maker.open(`${url}/9999`, 300));
    expect(fault.fault).toBe("reply");
    expect(fault.message).toContain("DB index is out of range");
  });

  test("a host that no resolver knows is told at once", async () => {
    const fault = await faultOf(maker.open(`redis://${"x".repeat(70)}.invalid:6379`, 600_000));
    expect(fault.fault).toBe("offline");
    expect(fault.message).toContain("ENOTFOUND");
  });

  test("a fork that its signal gives up leaves nothing behind", async () => {
    await using server = await startServer();
    const driver = owned(await maker.open(server.url, 600_000));
    const gone = await faultOf(driver.fork("lease", AbortSignal.abort()));
    expect(gone.fault).toBe("closed");
    const proxy = await countingProxy(server.url);
    onTestFinished(() => proxy.end());
    const through = owned(await maker.open(proxy.url, 600_000));
    proxy.mute(true);
    const end = new AbortController();
    const opening = faultOf(through.fork("lease", end.signal));
    end.abort();
    expect((await opening).fault).toBe("closed");
    proxy.mute(false);
    const lane = owned(await through.fork("lease", new AbortController().signal));
    expect(await lane.command(["PING"])).toBe("PONG");
  });

  test("a server that accepts and never answers is given up, and its sockets with it", async () => {
    const silent = await silentServer();
    onTestFinished(() => silent.end());
    expect((await faultOf(maker.open(silent.url, 200))).fault).toBe("offline");
    await expect.poll(() => silent.sockets()).toBe(0);
  });

  test("close ends a lane that waits for a server's first word", async () => {
    await using server = await startServer();
    const driver = owned(await maker.open(server.url));
    const waiting = faultOf(driver.command(["BLPOP", "none", "0"]));
    process.kill(server.pid, "SIGSTOP");
    await driver.close("now");
    expect((await waiting).fault).toBe("connection");
    const opening = faultOf(maker.open(server.url, 200));
    expect((await opening).fault).toBe("offline");
    process.kill(server.pid, "SIGCONT");
  });

  test("a loading server is told in the state and waited for", async () => {
    await using server = await startServer({
      args: ["--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"],
    });
    const driver = owned(await maker.open(server.url));
    const other = owned(await maker.open(server.url));
    await driver.command(["EVAL", "for i=1,1000 do redis.call('SET', i, i) end", "0"]);
    const errors: string[] = [];
    driver.onState(({ error }) => error && errors.push(error.message));
    const reload = other.command(["DEBUG", "RELOAD"]);
    await expect.poll(() => refusedAsLoading(driver), { interval: 5 }).toBe(true);
    await driver.command(["QUIT"]).catch(() => {});
    await expect.poll(() => errors.some((text) => text.startsWith("LOADING "))).toBe(true);
    await reload;
    await expect
      .poll(() => driver.state, { timeout: 10_000 })
      .toEqual({ status: "ready", epoch: 2 });
    expect(await driver.command(["GET", "7"])).toBe("7");
  });

  test("nothing is left open after close", async () => {
    await using server = await startServer();
    // Short enough to see a timer that one of the clients leaves for two seconds.
    const check = await LeakCheck.start(server.url, { withinMs: 1000 });
    const driver = await maker.open(server.url);
    const lanes = [driver, await driver.fork("lease"), await driver.fork("blocking")];
    const blocked = faultOf(lanes[2]?.command(["BLPOP", "none", "0"]) ?? Promise.reject());
    await driver.command(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    await faultOf(maker.open(`redis://127.0.0.1:${await freePort()}`, 150));
    await blocked;
    await Promise.all(lanes.map((lane) => lane.close()));
    await check.end();
  });
}

function prefixed(maker: Maker): object {
  const options = { keyPrefix: "app:" };
  return maker.name.startsWith("ioredis")
    ? { options }
    : { options, isReady: false, select: () => {} };
}
