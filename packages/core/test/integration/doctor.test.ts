import { sharedServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { FINDINGS, type Queue } from "../../src/index.js";
import { Bench, type DriverName, ENGINES, makeDriver, makeStrict } from "../support/bench.js";
import { FAULTS, fillQueue, found } from "../support/doctor-faults.js";
import { until } from "../support/until.js";

const MODES: readonly (readonly [string, (url: string) => ReturnType<typeof makeDriver>])[] = [
  ...(["ioredis", "node-redis"] as const satisfies DriverName[]).map(
    (name) => [name, (url: string) => makeDriver(url, name)] as const,
  ),
  ["strict mode", makeStrict] as const,
];

test("every kind of finding has a fault that makes it", () => {
  const made = new Set(FAULTS.flatMap((one) => one.found.map((text) => text.split(" ")[0])));
  expect([...made].sort()).toEqual(Object.keys(FINDINGS).sort());
});

describe.each(ENGINES)("the doctor on %s", (engine) => {
  describe.each(MODES)("%s", (mode, make) => {
    /** A queue with one waiting, one prioritized and one delayed job. */
    async function open(): Promise<{ readonly bench: Bench; readonly queue: Queue }> {
      const { url } = await sharedServer(engine);
      const made = await make(url);
      onTestFinished(() => made.close());
      const bench = Bench.on(url, made);
      const queue = bench.queue();
      await fillQueue(queue);
      return { bench, queue };
    }

    test.each(FAULTS)("$name", async (one) => {
      const { bench, queue } = await open();
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [], queue: bench.name });
      await one.damage(bench);
      const seen = await queue.doctor();
      expect(found(seen)).toEqual(one.found);
      expect(seen.ok).toBe(false);
      expect(JSON.parse(JSON.stringify(seen))).toEqual(seen);
      for (const { fixed, detail } of seen.findings) {
        expect(fixed).toBe(false);
        expect(detail).not.toBe("");
      }
      // Looking changes nothing.
      expect(found(await queue.doctor())).toEqual(one.found);
      const fixed = await queue.doctor({ fix: true });
      expect(found(fixed)).toEqual(one.found);
      expect(fixed.ok).toBe(one.kept !== true);
      expect(await one.after(bench, queue)).toEqual(one.wanted);
      expect(found(await queue.doctor())).toEqual(one.kept ? one.found : []);
    });

    test("an empty marker is no finding where nothing may be claimed", async () => {
      const { bench, queue } = await open();
      await bench.client.del(bench.key("marker"));
      const allowed = [
        [() => queue.pause(), () => bench.client.hdel(bench.key("meta"), "paused")],
        [
          () => bench.client.hset(bench.key("meta"), "concurrency", "0"),
          () => bench.client.hdel(bench.key("meta"), "concurrency"),
        ],
        [
          () => bench.client.set(bench.key("limiter"), "5", "PX", 3_600_000),
          () => bench.client.del(bench.key("limiter")),
        ],
      ] as const;
      for (const [stop, go] of allowed) {
        await stop();
        expect((await queue.doctor()).findings).toEqual([]);
        await go();
      }
      expect(found(await queue.doctor())).toEqual(["marker-empty marker"]);
    });

    test("findings stop at the limit, and the report says so", async () => {
      const { bench, queue } = await open();
      const names = Array.from({ length: 30 }, (_, n) => `g${n}`);
      await bench.client.lpush(bench.key("wait"), ...names);
      const report = await queue.doctor({ limit: 10 });
      expect(report).toMatchObject({ ok: false, truncated: true });
      expect(report.findings).toHaveLength(10);
      for (let n = 0; n < 5; n += 1) await queue.doctor({ fix: true, limit: 10 });
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [] });
      expect(await queue.getWaitingCount()).toBe(1);
    });

    // Strict mode takes one call at a time, which is no load.
    if (mode === "strict mode") return;

    test("no false alarm while workers work", async () => {
      const { bench, queue } = await open();
      const workers = [1, 2, 3].map(() =>
        bench.worker(
          ({ data }) => {
            if (Number(data) % 7 === 0) throw new Error("bad");
          },
          { concurrency: 20, removeOnComplete: 50 },
        ),
      );
      let adding = true;
      const added = (async () => {
        for (let n = 0; adding && n < 100; n += 1) {
          await queue.addBulk(
            Array.from({ length: 40 }, (_, at) => ({
              name: "x",
              data: n + at,
              opts: {
                attempts: 2,
                backoff: at % 3 === 0 ? 5 : 0,
                priority: at % 4,
                delay: at % 5 === 0 ? 10 : 0,
              },
            })),
          );
        }
      })();
      for (let look = 0; look < 6; look += 1) {
        const report = await queue.doctor({ fix: look % 2 === 1 });
        expect(report.findings).toEqual([]);
        expect(report.looked).toBeGreaterThan(0);
      }
      adding = false;
      await added;
      await until("all is done", async () => (await queue.count()) <= 1);
      for (const worker of workers) await worker.close();
      expect(await queue.doctor()).toMatchObject({ ok: true, findings: [] });
    });
  });
});
