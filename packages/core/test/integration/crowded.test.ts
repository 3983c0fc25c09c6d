import { expect, test } from "vitest";
import { Bench } from "../support/bench.js";
import { until } from "../support/until.js";

const WAITING = 200_000;
const ACTIVE = 50_000;
const JOBS = 300;

/** Fills a queue on the server itself: waiting jobs with their hashes, and leases of other workers. */
const FILL = `
for n = 1, tonumber(ARGV[1]) do
  redis.call('LPUSH', KEYS[1], 'w' .. n)
  redis.call('HSET', ARGV[4] .. 'w' .. n, 'name', 'x', 'data', '0', 'timestamp', '1')
end
for n = 1, tonumber(ARGV[2]) do
  redis.call('ZADD', KEYS[2], ARGV[3] - n, 'a' .. n)
  redis.call('HSET', KEYS[3], 'a' .. n, '1:other!')
  redis.call('ZADD', KEYS[4], n - ARGV[3], 'd' .. n)
end`;

/** How often the server ran each command since it was asked last. */
async function counts(bench: Bench): Promise<ReadonlyMap<string, number>> {
  const stats = await bench.client.info("commandstats");
  await bench.client.config("RESETSTAT");
  const rows = [...stats.matchAll(/^cmdstat_([^:|]+)[^:]*:calls=(\d+)/gm)];
  return new Map(rows.map(([, name = "", calls]) => [name, Number(calls)]));
}

/** What a queue with so many others costs the server: for adding, for working, for looking after. */
async function cost(
  bench: Bench,
  waiting: number,
  active: number,
): Promise<Record<"add" | "work" | "sweep", number>> {
  const units = ["wait", "active", "owners", "delayed"].map((unit) => bench.key(unit));
  const queue = bench.queue();
  await queue.add("x", 0);
  const far = -Date.now() - 3_600_000;
  await bench.client.eval(FILL, units.length, ...units, waiting, active, far, bench.key("job:"));

  await counts(bench);
  for (let n = 0; n < JOBS; n += 1) await queue.add("x", n, { lifo: true });
  const total = (seen: ReadonlyMap<string, number>): number =>
    [...seen].reduce((sum, [name, calls]) => (OWN.has(name) ? sum : sum + calls), 0);
  const add = total(await counts(bench)) / JOBS;

  let ran = 0;
  const worker = bench.worker(
    () => {
      ran += 1;
      if (ran === JOBS) worker.pause();
    },
    // So few are kept that each end is a step: how many turns there are depends on the time.
    { autorun: false, removeOnComplete: { count: 500 }, stalledInterval: 3_600_000 },
  );
  await worker.run();
  await until("it has done its share", () => ran >= JOBS && worker.active === 0);
  const seen = await counts(bench);
  expect(seen.get("evalsha") ?? 0).toBeLessThan(JOBS * 1.2);
  const work = total(seen) / ran;
  await worker.close();

  await counts(bench);
  const sweeper = bench.worker(() => undefined, { lockDuration: 100, stalledInterval: 100 });
  sweeper.pause();
  await bench.client
    .multi()
    .hset(bench.key("job:dead"), { name: "x", data: "1", timestamp: "1" })
    .hset(bench.key("owners"), "dead", "1:dead!")
    .zadd(bench.key("active"), -1, "dead")
    .exec();
  await until(
    "it has swept",
    async () => (await bench.client.hexists(units[2] ?? "", "dead")) === 0,
  );
  await sweeper.close();
  return { add, work, sweep: total(await counts(bench)) };
}

/** Commands of the test's own. */
const OWN: ReadonlySet<string> = new Set(["info", "config", "hexists", "client", "ping"]);

test("200 000 waiting and 50 000 active jobs change nothing of what a job costs the server", async () => {
  const bench = await Bench.own();
  const alone = await cost(Bench.on(bench.url), JOBS, 10);
  const crowded = await cost(Bench.on(bench.url), WAITING, ACTIVE);
  // What timers do meanwhile is a little of it.
  expect(crowded.add).toBeLessThan(alone.add * 1.1);
  expect(crowded.work).toBeLessThan(alone.work * 1.1);
  // A few sweeps more or less come until the dead lease is found.
  expect(crowded.sweep).toBeLessThan(alone.sweep * 3);
});
