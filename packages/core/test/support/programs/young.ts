import { writeSync } from "node:fs";
import { Worker } from "../../../src/index.js";

/** What the parent gives: where the jobs are, and after how many of them the heap is looked at. */
const { url, name, looks } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly url: string;
  readonly name: string;
  readonly looks: readonly number[];
};

const collect = globalThis.gc as (options?: { readonly type: "minor" }) => void;
let begun = 0;
const worker = new Worker(
  name,
  async (_job, context) => {
    begun += 1;
    // What lives now grows old: whatever still comes to hang on it stays until the next full collection.
    if (begun === looks[0]) collect();
    if (looks.includes(begun)) {
      for (let n = 0; n < 3; n += 1) collect({ type: "minor" });
      writeSync(1, `heap ${process.memoryUsage().heapUsed}\n`);
      if (begun === looks.at(-1)) setImmediate(() => void worker.close({ timeout: 0 }));
    }
    return context.token.length;
  },
  { connection: url, concurrency: 100, claimAhead: 20, removeOnComplete: true },
);
