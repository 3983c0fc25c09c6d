import { Children, type Family, freshQueue } from "../bench.js";
import { SIDES } from "../sides/index.js";
import { type BenchQueue, type SideName, sideOf } from "../sides/types.js";
import { drained, fill } from "./drained.js";

const CONCURRENCY = 100;
/** Global concurrency that is set but never reached: both libraries then count what is active. */
const LIMIT = 1_000_000;

/** Drains a queue in which workers elsewhere hold many jobs active. They stay held over all rounds. */
export const active: Family = {
  name: "active",
  open: async (bench) => {
    const children = new Children(bench.childFile);
    await bench.control.flushall();
    const queues = new Map<SideName, { name: string; queue: BenchQueue }>();
    const crowded = async (side: SideName): Promise<{ name: string; queue: BenchQueue }> => {
      const known = queues.get(side);
      if (known) return known;
      const name = freshQueue(side);
      const queue = SIDES[side].openQueue(bench.port, name);
      const entry = { name, queue };
      queues.set(side, entry);
      await fill(queue, bench.plan.held);
      await queue.hold(bench.plan.held);
      await queue.limit(LIMIT);
      return entry;
    };
    // Stalled checks are off: the peer's first one, over every held job, would fall into its short run.
    const drain = {
      concurrency: CONCURRENCY,
      keep: false,
      sweep: false,
      jobs: bench.plan.active,
    };
    return {
      run: async (contender) => {
        const place = await crowded(sideOf(contender));
        return drained(bench, children.of(contender), { contender, ...place }, drain);
      },
      close: async () => {
        await children.end();
        for (const { queue } of queues.values()) await queue.close();
        await bench.control.flushall();
      },
    };
  },
};
