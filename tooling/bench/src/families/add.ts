import { type Bench, Children, type Family, freshQueue, type OpenFamily } from "../bench.js";
import type { Child } from "../child/child.js";
import { sideOf } from "../sides/types.js";

const BULK = 1_000;
const FLIGHTS = 64;

type Add = (child: Child, count: number) => Promise<unknown>;

/** Adds from one producer process; nobody works meanwhile. */
export const adds: readonly Family[] = [
  family("add-bulk", (child, count) => child.call("addBulk", { count, size: BULK })),
  family("add-64", (child, count) => child.call("addFlights", { count, flights: FLIGHTS })),
];

function family(name: Family["name"], add: Add): Family {
  return { name, open: async (bench) => open(bench, add) };
}

function open(bench: Bench, add: Add): OpenFamily {
  const children = new Children(bench.childFile);
  return {
    run: async (contender) => {
      await bench.control.flushall();
      const side = sideOf(contender);
      const child = children.one(contender);
      await child.call("openProducer", { side, port: bench.port, queue: freshQueue(side) });
      const count = bench.plan.add;
      await add(child, child.warmUp(count));
      const started = performance.now();
      await add(child, count);
      const seconds = (performance.now() - started) / 1_000;
      await child.call("closeProducer", null);
      return { rate: count / seconds };
    },
    close: () => children.end(),
  };
}
