import { startServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import { type Family, freshQueue } from "../bench.js";
import { settledMemory } from "../server/memory.js";
import { SIDES } from "../sides/index.js";
import { sideOf } from "../sides/types.js";
import { fill } from "./drained.js";

/**
 * Memory of waiting jobs with all that belongs to them, the stream of events included. Each run has a
 * server of its own: its random hash seed decides how many buckets every job's hash ends up with.
 */
export const memory: Family = {
  name: "memory",
  open: async ({ plan }) => ({
    run: async (contender) => {
      await using server = await startServer();
      const control = new Redis(server.url);
      const side = sideOf(contender);
      const filled = async (count: number): Promise<void> => {
        const queue = SIDES[side].openQueue(server.port, freshQueue(side));
        await fill(queue, count);
        await queue.close();
      };
      try {
        // Scripts stay loaded over the flush, so they are not charged to the jobs.
        await filled(1);
        await control.flushall();
        const before = await settledMemory(control);
        await filled(plan.memory);
        const after = await settledMemory(control);
        return { memory: (after - before) / plan.memory };
      } finally {
        control.disconnect();
      }
    },
    close: async () => undefined,
  }),
};
