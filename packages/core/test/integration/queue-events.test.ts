import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { QueueEvents } from "../../src/index.js";
import { Bench, type DriverName, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { killLanes } from "../support/connections.js";
import { refusal, settles, until } from "../support/until.js";

type Told = [name: string, payload: Record<string, unknown>, eventId: string];

const NAMES =
  "waiting delayed active completed failed retried stalled removed duplicated progress paused resumed";

/** Everything a `QueueEvents` tells, in order. */
function record(events: QueueEvents, more = ""): Told[] {
  const told: Told[] = [];
  for (const name of `${NAMES} gap ${more}`.trim().split(" ")) {
    (events as unknown as NodeJS.EventEmitter).on(name, (payload, eventId) =>
      told.push([name, payload, eventId]),
    );
  }
  return told;
}

const names = (told: readonly Told[]): string[] =>
  told.map(([name, { jobId }]) => (jobId === undefined ? name : `${name} ${jobId}`));

const MODES: readonly (readonly [string, (url: string) => ReturnType<typeof makeDriver>])[] = [
  ...(["ioredis", "node-redis"] as const satisfies DriverName[]).map(
    (name) => [name, (url: string) => makeDriver(url, name)] as const,
  ),
  ["strict mode", makeStrict] as const,
];

describe.each(ENGINES)("queue events on %s", (engine) => {
  describe.each(MODES)("%s", (_, make) => {
    async function open(): Promise<Bench> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      return Bench.on(url, made);
    }

    test("tell what happens, in order, with its payload", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events();
      const told = record(events);
      await events.waitUntilReady();
      expect(events.lastEventId).toBe("0-0");
      expect(await bench.client.keys(`emq:{${bench.name}}:*`)).toEqual([]);
      await queue.pause();
      await queue.add("mail", {}, { jobId: "a" });
      await queue.add("other", {}, { jobId: "a" });
      const late = await queue.add("x", {}, { jobId: "late", delay: 3_600_000 });
      await queue.resume();
      const worker = bench.worker(({ name, attemptsMade }) => {
        if (name !== "bad") return { was: name };
        throw new Error(`no ${attemptsMade}`);
      });
      await until("a is done", () => names(told).includes("completed a"));
      await queue.add("bad", {}, { jobId: "b", attempts: 2 });
      await until("b has failed", () => names(told).includes("failed b"));
      await worker.close();
      expect(names(told)).toEqual([
        "paused",
        "waiting a",
        "duplicated a",
        "delayed late",
        "resumed",
        "active a",
        "completed a",
        "waiting b",
        "active b",
        "retried b",
        "active b",
        "failed b",
      ]);
      const of = (name: string) => told.find(([one]) => one === name)?.[1];
      expect(of("waiting")).toEqual({ jobId: "a", name: "mail" });
      expect(of("delayed")).toEqual({ jobId: "late", delay: late.timestamp + 3_600_000 });
      expect(of("completed")).toEqual({ jobId: "a", returnvalue: { was: "mail" } });
      expect(of("retried")).toEqual({ jobId: "b", failedReason: "no 0" });
      expect(of("failed")).toEqual({ jobId: "b", failedReason: "no 1" });
      for (const [, , id] of told) expect(id).toMatch(/^\d+-\d+:\d+$/);
      expect(events.lastEventId).toBe(told.at(-1)?.[2]);
    });

    test("go on behind any event, also in the middle of an entry", async () => {
      const bench = await open();
      const queue = bench.queue();
      const jobs = Array.from({ length: 250 }, (_, n) => ({ name: "x", data: n }));
      const ids = (await queue.addBulk(jobs)).map(({ id }) => id);
      const all = bench.events({ lastEventId: "0-0" });
      const told = record(all);
      await until("all is told", () => told.length === 250);
      expect(told.map(([, { jobId }]) => jobId)).toEqual(ids);
      const entries = new Set(told.map(([, , id]) => id.split(":")[0]));
      expect(entries.size).toBeGreaterThan(1);
      for (const at of [0, 98, 99, 100, 248]) {
        const rest = bench.events({ lastEventId: told[at]?.[2] ?? "" });
        const again = record(rest);
        await until("the rest is told", () => again.length === 249 - at);
        expect(again).toEqual(told.slice(at + 1));
        await rest.close();
      }
      const behind = bench.events({ lastEventId: told[0]?.[2].split(":")[0] ?? "" });
      const after = record(behind);
      await until("what follows the entry is told", () => after.length === 150);
      expect(after).toEqual(told.slice(100));
    });

    test("large values come by reference, and are absent once their job is gone", async () => {
      const bench = await open();
      const queue = bench.queue();
      // Fewer characters than a reason may have, more bytes than an entry takes.
      const long = "€".repeat(4_000);
      const worker = bench.worker(({ name }) => {
        if (name === "bad") throw new Error(long);
        return { long };
      });
      await queue.add("good", {}, { jobId: "kept" });
      await queue.add("good", {}, { jobId: "gone", removeOnComplete: true });
      await queue.add("bad", {}, { jobId: "bad" });
      await until("all ended", async () => (await queue.getFailedCount()) === 1);
      await worker.close();
      const events = bench.events({ lastEventId: "0-0" });
      const told = record(events);
      await until("all is told", () => names(told).includes("failed bad"));
      const ends = told.filter(([name]) => name === "completed" || name === "failed");
      expect(ends.map(([, payload]) => payload)).toEqual([
        { jobId: "kept", returnvalue: { long } },
        { jobId: "gone" },
        { jobId: "bad", failedReason: long },
      ]);
    });

    test("custom events come in order with the queue's own", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events<{ shipped: { orderId: string; n?: number } }>();
      const told = record(events as QueueEvents, "shipped");
      await events.waitUntilReady();
      const producer = bench.producer<{ shipped: { orderId: string; n?: number } }>();
      await queue.add("x", {}, { jobId: "a" });
      const id = await producer.publishEvent({ eventName: "shipped", orderId: "7", n: 1 });
      await queue.add("x", {}, { jobId: "b" });
      await until("all is told", () => told.length === 3);
      expect(told[1]).toEqual(["shipped", { orderId: "7", n: 1 }, id]);
      expect(names(told)).toEqual(["waiting a", "shipped", "waiting b"]);
      const bad: [string, unknown][] = [
        ["eventName", { eventName: "completed" }],
        ["eventName", { eventName: "error" }],
        ["eventName", { eventName: "" }],
        ["eventName", {}],
        ["event", { eventName: "x", n: 1n }],
        ["event", { eventName: "x", text: "x".repeat(60_000) }],
        ["event", null],
      ];
      for (const [option, event] of bad) {
        const refused = await refusal(producer.publishEvent(event as never));
        expect(refused).toMatchObject({ code: "VALIDATION", option });
      }
    });

    test("what was trimmed before it was read is told as a gap", async () => {
      const bench = await open();
      const queue = bench.queue();
      await queue.add("x", {}, { jobId: "first" });
      const before = bench.events({ lastEventId: "0-0" });
      const told = record(before);
      await until("the first is told", () => told.length === 1);
      await before.close();
      for (let n = 0; n < 5; n += 1) await queue.add("x", {}, { jobId: `${n}` });
      await bench.client.xtrim(bench.key("events"), "MAXLEN", 2);
      const after = bench.events({ lastEventId: told[0]?.[2] ?? "" });
      const rest = record(after);
      await until("the rest is told", () => rest.length === 3);
      expect(names(rest)).toEqual(["gap", "waiting 3", "waiting 4"]);
      expect(rest[0]?.[1]).toEqual({
        after: told[0]?.[2],
        next: rest[1]?.[2].split(":")[0],
      });
      await bench.client.del(bench.key("events"));
      await queue.add("x", {}, { jobId: "new" });
      await until("the new stream is told", () => names(rest).includes("waiting new"));
      await after.close();
    });

    test("a listener that throws stops nothing", async () => {
      const bench = await open();
      const queue = bench.queue();
      const events = bench.events();
      const errors: Error[] = [];
      events.on("error", (error) => errors.push(error));
      events.on("waiting", ({ jobId }) => {
        if (jobId === "a") throw new Error("mine");
      });
      events.on("waiting", async ({ jobId }) => {
        if (jobId === "b") throw new Error("async mine");
      });
      const told = record(events);
      await events.waitUntilReady();
      for (const jobId of ["a", "b", "c"]) await queue.add("x", {}, { jobId });
      await until("c is told", () => names(told).includes("waiting c"));
      await until("both are reported", () => errors.length === 2);
      const said = `waiting listener: queue "${bench.name}": it threw: `;
      expect(errors.map(({ message }) => message).sort()).toEqual([
        `${said}async mine`,
        `${said}mine`,
      ]);
    });
  });

  describe.each(["ioredis", "node-redis"] as const)("connections of %s", (driver) => {
    async function own(): Promise<
      Bench & { readonly server: { kill(): Promise<void>; restart(): Promise<void> } }
    > {
      const bench = await Bench.own(engine);
      const made = await makeDriver(bench.server.url, driver);
      onTestFinished(() => made.close("now"));
      return Object.assign(Bench.on(bench.server.url, made), { server: bench.server });
    }

    test("a killed connection loses nothing", async () => {
      const bench = await own();
      const queue = bench.queue();
      const events = bench.events();
      const told = record(events);
      await events.waitUntilReady();
      for (let n = 0; n < 30; n += 1) {
        await queue.add("x", {}, { jobId: `${n}` });
        if (n % 10 === 5) {
          await until(
            "the lane is there",
            async () => (await killLanes(bench.client, "events")) > 0,
          );
        }
      }
      await until("all is told", () => told.length >= 30);
      expect(names(told)).toEqual(Array.from({ length: 30 }, (_, n) => `waiting ${n}`));
    });

    test("an emptied server is followed anew", async () => {
      const bench = await own();
      const queue = bench.queue();
      const events = bench.events();
      const told = record(events);
      await events.waitUntilReady();
      await queue.add("x", {}, { jobId: "a" });
      await until("a is told", () => told.length === 1);
      await bench.client.flushall();
      await queue.add("x", {}, { jobId: "b" });
      await until("b is told", () => names(told).includes("waiting b"));
      expect(names(told).at(-1)).toBe("waiting b");
    });

    test("a keyspace that is not ours ends it with the fence's code", async () => {
      const bench = await own();
      await bench.client.hset(`bull:${bench.name}:meta`, "version", "bullmq:5.65.1");
      const events = bench.events({ autorun: false });
      expect(await refusal(events.run())).toMatchObject({ code: "V1_KEYSPACE" });
      await bench.client.del(`bull:${bench.name}:meta`);
      await events.run();
      const codes: unknown[] = [];
      events.on("error", (error) => codes.push((error as { code?: unknown }).code));
      const ended = new Promise<void>((resolve) => events.on("closed", resolve));
      const queue = bench.queue();
      await queue.add("x", {});
      await bench.client.set(`emq:{${bench.name}}:meta`, "echomq:3.0.0");
      await bench.client.xadd(bench.key("events"), "*", "wz", "");
      await settles("the end", ended);
      expect(codes).toContain("MAJOR_MISMATCH");
    });

    test("close settles in every state of the connection", async () => {
      const bench = await own();
      const never = bench.events({ autorun: false });
      await settles("close before run", never.close());
      expect(await refusal(never.run())).toMatchObject({ code: "CLOSED" });
      const starting = bench.events();
      await settles("close while it starts", starting.close());
      const blocked = bench.events();
      await blocked.waitUntilReady();
      await settles("close while it waits", blocked.close());
      await settles("close again", blocked.close());
      const cut = bench.events();
      await cut.waitUntilReady();
      await bench.server.kill();
      await settles("close without a server", cut.close(), 10_000);
      const lonely = bench.events();
      await settles("close while it cannot start", lonely.close(), 10_000);
      await bench.server.restart();
    });
  });

  test("its options are checked", async () => {
    const bench = Bench.on((await sharedServer(engine)).url);
    const cases: [string, object][] = [
      ["lastEventId", { lastEventId: "x" }],
      ["autorun", { autorun: 1 }],
      ["options.lastEventID", { lastEventID: "0-0" }],
      ["commandTimeout", { commandTimeout: 1 }],
    ];
    for (const [option, options] of cases) {
      const error = await refusal(() => bench.events(options));
      expect(error, option).toMatchObject({ code: "VALIDATION", option });
    }
    await using events = bench.events();
    await events.waitUntilReady();
  });
});
