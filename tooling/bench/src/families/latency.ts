import { Children, type Family, freshQueue, workerOf } from "../bench.js";
import { median } from "../stats.js";
import { allDone, expect } from "./drained.js";

const CONCURRENCY = 10;
const GAP_MS = 5;
/** Jobs before those that are measured, as `Child.warmUp` takes them. */
const WARM = 300;

/** Time from the call of `add` in one process to the handler's start in another, at 200 jobs/s. */
export const latency: Family = {
  name: "latency",
  open: async (bench) => {
    const workers = new Children(bench.childFile);
    const producers = new Children(bench.childFile);
    return {
      run: async (contender) => {
        await bench.control.flushall();
        const [worker, producer] = [workers.one(contender), producers.one(contender)];
        const who = workerOf(bench, contender);
        const queue = freshQueue(who.side);
        const spec = { port: bench.port, queue, concurrency: CONCURRENCY, keep: false };
        await worker.call("openWorker", { ...spec, ...who, sweep: true });
        await producer.call("openProducer", { side: who.side, port: bench.port, queue });
        const paced = async (count: number): Promise<number[]> => {
          await expect([worker], count);
          const done = allDone([worker], count);
          const called = producer.call("addPaced", { count, gapMs: GAP_MS });
          await Promise.all([called, done]);
          return called;
        };
        await paced(worker.warmUp(WARM));
        const called = await paced(bench.plan.latency);
        const started = await worker.call("starts", null);
        await worker.call("closeWorker", null);
        await producer.call("closeProducer", null);
        const waits = called.map((at, n) => ((started[n] ?? Number.NaN) - at) / 1_000);
        return { latency: median(waits) };
      },
      close: async () => {
        await Promise.all([workers.end(), producers.end()]);
      },
    };
  },
};
