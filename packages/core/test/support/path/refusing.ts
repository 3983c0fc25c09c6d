import { encodeCall, isDriverFault, type Reply, SPECS } from "@echomq/scripts";
import { reserveKey, stampKey } from "@echomq/wire";
import { expect } from "vitest";
import { refusal, until } from "../until.js";
import type { PathCase, Place } from "./case.js";
import { NAMES, type Refusal, scriptOf } from "./recorder.js";

type Name = (typeof NAMES)[number];

/** A call of a script with nothing in it. */
function emptyCall(name: Name, q: string): { readonly keys: string[]; readonly argv: string[] } {
  const spec = SPECS[name];
  const args = Object.fromEntries(spec.args.map((arg) => [arg.name, arg.type === "int" ? 0 : ""]));
  const lists = [...spec.groups, ...spec.tables].map((one) => [one.name, []]);
  const { keys, argv } = encodeCall(spec, { q, args, ...Object.fromEntries(lists) } as never);
  return { keys: keys.map(String), argv: argv.map(String) };
}

/** What the server says to a script that is sent as it is. */
async function told(
  { seen, driver }: Place,
  name: Name,
  { keys, argv }: ReturnType<typeof emptyCall>,
): Promise<Reply> {
  const key = keys[0] ?? "";
  const command = ["EVAL", scriptOf(name).source, String(keys.length), ...keys, ...argv];
  return seen
    .watch(driver)
    .command(command, { key })
    .catch((error: unknown) => {
      if (isDriverFault(error, "reply")) return error.message;
      throw error;
    });
}

/** The version a script is fenced by, and what stands there. */
async function withVersion(
  { driver }: Place,
  key: string,
  version: string,
  work: () => Promise<void>,
): Promise<void> {
  const before = await driver.command(["GET", key], { key });
  await driver.command(["SET", key, version], { key });
  try {
    await work();
  } finally {
    const back = typeof before === "string" ? ["SET", key, before] : ["DEL", key];
    await driver.command(back, { key });
  }
}

const fenced = (reserve: boolean): Name[] =>
  NAMES.filter((name) => (SPECS[name].fence === "reserve") === reserve);

const all = (code: "EMQFENCE" | "EMQARG"): Refusal[] =>
  NAMES.map((name): Refusal => `${name} ${code}`);

/** Cases of what is refused whatever it is for. */
export const REFUSING: readonly PathCase[] = [
  {
    title: "every script refuses another version of the wire, and reads no further",
    scripts: NAMES,
    refusals: all("EMQFENCE"),
    run: async (place) => {
      const q = place.bench.name;
      for (const [key, names] of [
        [stampKey(q), fenced(false)],
        [reserveKey("version"), fenced(true)],
      ] as const) {
        await withVersion(place, key, "echomq:3.0.0", async () => {
          for (const name of names) {
            const text = await told(place, name, emptyCall(name, q));
            expect(text, name).toBe("EMQFENCE echomq:3.0.0");
          }
        });
      }
    },
  },
  {
    title: "every script refuses arguments that are not its own",
    scripts: NAMES,
    refusals: all("EMQARG"),
    run: async (place) => {
      const q = place.bench.name;
      await place.bench.queue().add("x", 0, { jobId: "stands" });
      for (const name of NAMES) {
        const { keys, argv } = emptyCall(name, q);
        expect(await told(place, name, { keys, argv: [...argv, "0"] }), name).toMatch(/^EMQARG \S/);
        const bad = argv.length === 0 ? { keys: [...keys, keys[0] ?? ""], argv } : undefined;
        const text = await told(place, name, bad ?? { keys, argv: ["-1", ...argv.slice(1)] });
        expect(text, name).toMatch(/^EMQARG \S/);
      }
      expect(await place.bench.queue().count()).toBe(1);
    },
  },
  {
    title: "a broken priority sequence is refused by all that would write it, until it is mended",
    scripts: [
      "add",
      "retry",
      "advance",
      "rerank",
      "unlock",
      "promote",
      "recover",
      "finish",
      "rescue",
      "mend",
    ],
    refusals: [
      "add EMQSTATE",
      "retry EMQSTATE",
      "advance EMQSTATE",
      "rerank EMQSTATE",
      "unlock EMQSTATE",
      "promote EMQSTATE",
      "recover EMQSTATE",
      "finish EMQSTATE",
      "rescue EMQSTATE",
    ],
    run: async ({ bench, seen }) => {
      const queue = bench.queue();
      const opts = [{ jobId: "a" }, { jobId: "b", delay: 600_000 }, { jobId: "c" }];
      const bulk = opts.map((one) => ({ name: "x", data: 0, opts: one }));
      const [waits, delayed, stale] = await queue.addBulk(bulk);
      if (!waits || !delayed || !stale) throw new Error("three jobs were added");
      const broken = [
        () => queue.add("x", 1, { priority: 1 }),
        () => waits.retry(),
        () => delayed.promote(),
        () => waits.changePriority({ priority: 1 }),
        () => queue.removeDeduplicationKey("d"),
      ];
      await bench.client
        .multi()
        .set(bench.key("pc"), "x")
        .lrem(bench.key("wait"), 0, stale.id)
        .hset(bench.key("owners"), stale.id, "1:dead!")
        .zadd(bench.key("active"), -1, stale.id)
        .zadd(bench.key("delayed"), 1, delayed.id)
        .zadd(bench.key("held"), 1, "nobody")
        .exec();
      for (const verb of broken) expect(await refusal(verb())).toMatchObject({ code: "EMQSTATE" });
      expect((await queue.doctor()).ok).toBe(false);
      const sweeper = bench.worker(() => undefined, { lockDuration: 100, stalledInterval: 100 });
      sweeper.pause();
      const worker = bench.worker(({ id }) => {
        if (id === "a") throw new Error("no");
      });
      const wanted = ["promote", "recover", "finish"].map(
        (name) => `${name as "finish"} EMQSTATE` as const,
      );
      await until("the worker was refused", () => wanted.every((one) => seen.refusals.has(one)));
      expect(await queue.doctor({ fix: true })).toMatchObject({
        findings: expect.arrayContaining([expect.objectContaining({ kind: "broken-counter" })]),
      });
      await until("all ended", async () => {
        const { completed, failed } = await queue.getJobCounts();
        return completed === 2 && failed === 1;
      });
      await Promise.all([worker.close(), sweeper.close()]);
    },
  },
];
