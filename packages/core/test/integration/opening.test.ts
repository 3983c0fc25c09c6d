import { createServer, type Socket } from "node:net";
import type { LaneRole, RedisDriver } from "@echomq/scripts";
import { sharedServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ConnectionOption, Queue, Worker } from "../../src/index.js";
import { Bench, makeDriver } from "../support/bench.js";
import { lanesOpen } from "../support/connections.js";
import { refusal, settles, until } from "../support/until.js";

/** What is waited for here would take minutes where it is not told at once. */
const PATIENT = { retryTime: 300_000, commandTimeout: 300_000 } as const;
/** No resolver is asked for it: a label has 63 characters at most. */
const NOWHERE = `${"x".repeat(70)}.invalid`;

/** A server that accepts connections and never answers, and the connections it holds. */
async function silent(): Promise<{ url: string; sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const bound = server.address();
  return { url: `redis://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`, sockets };
}

function clientFor(name: string, url: string): ConnectionOption {
  if (name === "a URL") return url;
  if (name === "node-redis") return createClient({ url });
  const client = new Redis(url, { lazyConnect: true });
  onTestFinished(() => client.disconnect());
  return client;
}

describe.each(["a URL", "ioredis", "node-redis"])("what waiting does not heal, by %s", (client) => {
  const cases: [string, (bench: Bench & { server: { port: number } }) => string, RegExp, RegExp][] =
    [
      [
        "a password",
        ({ server }) => `redis://:wrong@127.0.0.1:${server.port}`,
        /NOAUTH/,
        /WRONGPASS/,
      ],
      ["no password", ({ url }) => url.replace(/:[^:@/]*@/, ""), /NOAUTH/, /NOAUTH/],
      ["a database", ({ server }) => `redis://:pw@127.0.0.1:${server.port}/99`, /./, /DB index/],
      ["a host", () => `redis://${NOWHERE}:6379`, /CONNECTION_LOST/, /ENOTFOUND/],
    ];

  test.each(cases)("%s that is wrong: told at once", async (_name, urlOf, code, text) => {
    const bench = await Bench.own("redis", ["--requirepass", "pw"]);
    const url = urlOf(bench);
    const queue = new Queue("q", { connection: clientFor(client, url), ...PATIENT });
    const worker = new Worker("q", () => undefined, {
      connection: clientFor(client, url),
      autorun: false,
      ...PATIENT,
    });
    onTestFinished(async () => {
      await queue.close();
      await worker.close({ timeout: 0 });
    });
    const told: (Error & { code: string })[] = [];
    worker.on("error", (error) => told.push(error));
    const refused = await settles("the call", refusal(queue.add("x", {})));
    expect(refused.code).toMatch(code);
    expect(refused.message).toMatch(text);
    const running = refusal(worker.run());
    await until("the worker tells", () => told.length > 0);
    expect(told[0]?.message).toMatch(text);
    await settles("close", worker.close({ timeout: 0 }));
    // A name may begin to mean something, so the worker goes on trying until it is closed.
    expect((await running).code).toMatch(/ENOTFOUND/.test(text.source) ? /^CLOSED$/ : code);
  });
});

describe("a connection that is being opened is given up by close", () => {
  test.each(["a URL", "ioredis", "node-redis"])("the first one, by %s", async (name) => {
    const { url, sockets } = await silent();
    const queue = new Queue("q", { connection: clientFor(name, url), ...PATIENT });
    const worker = new Worker("q", () => undefined, {
      connection: clientFor(name, url),
      ...PATIENT,
    });
    worker.on("error", () => undefined);
    // An add on its way would be waited for.
    const call = refusal(queue.getJobCounts());
    await until("both connect", () => sockets.size === 2);
    await settles("close", Promise.all([queue.close(), worker.close({ timeout: 0 })]));
    expect((await settles("the call", call)).code).toBe("CLOSED");
    await until("nothing is left of them", () => sockets.size === 0);
  });

  test("of a client that several share: once the last has gone", async () => {
    const { url, sockets } = await silent();
    const client = clientFor("ioredis", url);
    const queues = ["a", "b"].map((name) => new Queue(name, { connection: client, ...PATIENT }));
    const calls = queues.map((queue) => refusal(queue.getJobCounts()));
    await until("they connect", () => sockets.size === 1);
    await settles("close", queues[0]?.close() ?? Promise.resolve());
    expect((await settles("the first call", calls[0] ?? Promise.reject())).code).toBe("CLOSED");
    expect(sockets.size).toBe(1);
    await settles("close", queues[1]?.close() ?? Promise.resolve());
    await until("nothing is left of them", () => sockets.size === 0);
    await Promise.all(calls);
  });

  test.each(["lease", "blocking"] as const)("a worker's %s lane", async (stuck) => {
    const bench = await Bench.own();
    const real = await makeDriver(bench.url);
    onTestFinished(() => real.close());
    const given: string[] = [];
    const driver = forking(real, (role, signal) => {
      if (role !== stuck) return real.fork(role, signal);
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          given.push(role);
          reject(new Error("given up"));
        });
        given.push("asked");
      });
    });
    const worker = new Worker("q", () => undefined, { connection: driver, ...PATIENT });
    worker.on("error", () => undefined);
    const running = refusal(worker.run());
    await until("it is asked for", () => given.length > 0);
    await settles("close", worker.close({ timeout: 0 }));
    expect((await settles("run", running)).code).toBe("CLOSED");
    expect(given).toEqual(["asked", stuck]);
    await until("the others are closed", async () => (await lanesOpen(bench.client)) === 1);
  });

  test("where a driver cannot be told, close does not wait for it", async () => {
    const { url } = await sharedServer("redis");
    const real = await makeDriver(url);
    onTestFinished(() => real.close());
    let asked = false;
    const driver = forking(real, () => {
      asked = true;
      return new Promise(() => undefined);
    });
    const worker = new Worker("q", () => undefined, { connection: driver, ...PATIENT });
    worker.on("error", () => undefined);
    const running = refusal(worker.run());
    await until("it is asked for", () => asked);
    await settles("close", worker.close({ timeout: 0 }));
    expect((await settles("run", running)).code).toBe("CLOSED");
  });

  test("a lane that is being replaced", async () => {
    const bench = await Bench.own();
    const queue = new Queue("q", {
      connection: bench.url,
      retryTime: 300_000,
      commandTimeout: 200,
    });
    await queue.add("x", {});
    await bench.server.kill("SIGSTOP");
    const call = refusal(queue.getJobCounts());
    await settles("close", queue.close());
    expect((await settles("the call", call)).code).toMatch(/CLOSED|CONNECTION_LOST|TIMEOUT/);
    await bench.server.kill("SIGCONT");
    await until("nothing is left of it", async () => (await lanesOpen(bench.client)) === 0);
  });
});

/** A driver that opens its lanes another way. */
function forking(
  real: RedisDriver,
  fork: (role: LaneRole, signal?: AbortSignal) => Promise<RedisDriver>,
): RedisDriver {
  return {
    get info() {
      return real.info;
    },
    get state() {
      return real.state;
    },
    command: (args, route) => real.command(args, route),
    pipeline: (commands, route) => real.pipeline(commands, route),
    onState: (listener) => real.onState(listener),
    close: (mode) => real.close(mode),
    fork,
  };
}
