import { type Family, freshQueue } from "../bench.js";
import { settledMemory } from "../server/memory.js";
import { SIDES } from "../sides/index.js";
import { sideOf } from "../sides/types.js";
import { fill } from "./drained.js";

/** Memory of waiting jobs with all that belongs to them, the stream of events included. */
export const memory: Family = {
  name: "memory",
  open: async (bench) => ({
    run: async (contender) => {
      const side = sideOf(contender);
      const filled = async (count: number): Promise<void> => {
        const queue = SIDES[side].openQueue(bench.port, freshQueue(side));
        await fill(queue, count);
        await queue.close();
      };
      // Scripts stay loaded over the flush, so they are not charged to the jobs.
      await filled(1);
      await bench.control.flushall();
      const before = await settledMemory(bench.control);
      await filled(bench.plan.memory);
      const after = await settledMemory(bench.control);
      return { memory: (after - before) / bench.plan.memory };
    },
    close: async () => {
      await bench.control.flushall();
    },
  }),
};
