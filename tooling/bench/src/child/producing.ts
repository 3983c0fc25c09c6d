import { setTimeout as sleep } from "node:timers/promises";
import { SIDES } from "../sides/index.js";
import { job, jobs, pages } from "../sides/jobs.js";
import type { BenchQueue } from "../sides/types.js";
import { nowUs } from "./clock.js";
import type { Methods } from "./protocol.js";

interface Producing {
  openProducer(params: Methods["openProducer"]["params"]): Promise<null>;
  addBulk(params: Methods["addBulk"]["params"]): Promise<null>;
  addFlights(params: Methods["addFlights"]["params"]): Promise<null>;
  addPaced(params: Methods["addPaced"]["params"]): Promise<number[]>;
  closeProducer(): Promise<null>;
}

/** The part of a child that adds jobs. */
export function producing(): Producing {
  let queue: BenchQueue | undefined;
  const open = (): BenchQueue => {
    if (queue === undefined) throw new Error("no producer is open");
    return queue;
  };
  return {
    openProducer: async ({ side, port, queue: name }) => {
      queue = SIDES[side].openQueue(port, name);
      await queue.ready();
      return null;
    },
    addBulk: async ({ count, size }) => {
      for (const page of pages(jobs(count), size)) await open().addBulk(page);
      return null;
    },
    addFlights: async ({ count, flights }) => {
      let next = 0;
      const flight = async (): Promise<void> => {
        while (next < count) {
          next += 1;
          await open().add(job(next));
        }
      };
      await Promise.all(Array.from({ length: flights }, flight));
      return null;
    },
    addPaced: ({ count, gapMs }) => paced(open(), count, gapMs),
    closeProducer: async () => {
      await queue?.close();
      queue = undefined;
      return null;
    },
  };
}

/** Open loop: a slow answer delays no later add, so waiting is not hidden. */
async function paced(queue: BenchQueue, count: number, gapMs: number): Promise<number[]> {
  const called: number[] = [];
  const answers: Promise<unknown>[] = [];
  const first = performance.now() + gapMs;
  for (let n = 0; n < count; n += 1) {
    const wait = first + n * gapMs - performance.now();
    if (wait > 0) await sleep(wait);
    const next = job(n);
    called.push(nowUs());
    answers.push(queue.add(next));
  }
  await Promise.all(answers);
  return called;
}
