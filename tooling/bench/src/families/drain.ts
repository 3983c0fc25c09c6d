import { type Bench, Children, type Family, freshQueue, type OpenFamily } from "../bench.js";
import type { FamilyName } from "../cases.js";
import type { Plan } from "../plan.js";
import { SIDES } from "../sides/index.js";
import { sideOf } from "../sides/types.js";
import { drained } from "./drained.js";

interface Shape {
  readonly name: FamilyName;
  readonly concurrency: number;
  readonly processes: number;
  readonly keep: boolean;
  readonly count: keyof Plan;
}

const SHAPES: readonly Shape[] = [
  { name: "drain-c1", concurrency: 1, processes: 1, keep: false, count: "c1" },
  { name: "drain-c10", concurrency: 10, processes: 1, keep: false, count: "c10" },
  { name: "drain-c100", concurrency: 100, processes: 1, keep: false, count: "c100" },
  { name: "drain-2x50", concurrency: 50, processes: 2, keep: false, count: "c100" },
  { name: "drain-keep", concurrency: 100, processes: 1, keep: true, count: "c100" },
];

/** Empties a full queue. */
export const drains: readonly Family[] = SHAPES.map((shape) => ({
  name: shape.name,
  open: async (bench) => open(bench, shape),
}));

function open(bench: Bench, shape: Shape): OpenFamily {
  const children = new Children(bench.childFile);
  return {
    run: async (contender) => {
      await bench.control.flushall();
      const side = sideOf(contender);
      const name = freshQueue(side);
      const queue = SIDES[side].openQueue(bench.port, name);
      const workers = children.of(contender, shape.processes);
      const { concurrency, keep, count } = shape;
      const drain = { concurrency, keep, sweep: true, jobs: bench.plan[count] };
      const measures = await drained(bench, workers, { contender, name, queue }, drain);
      await queue.close();
      return measures;
    },
    close: () => children.end(),
  };
}
