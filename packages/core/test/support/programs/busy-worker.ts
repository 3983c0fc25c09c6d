import { Worker } from "../../../src/index.js";
import { serve } from "./serve.js";
import { settings, tell } from "./tell.js";

// Holds its jobs until it is told, and stalls its whole event loop when it is told.
const { url, name, options } = settings;
let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});
const worker = new Worker(
  name,
  async (job) => {
    tell(`begun ${job.name}`);
    if (job.name.startsWith("held")) await released;
    return "here";
  },
  { connection: url, ...options },
);
worker.on("error", () => undefined);
worker.on("lost", (job) => tell(`lost ${job.name}`));
worker.on("completed", (job) => tell(`completed ${job.name}`));
serve({
  stall: (ms: number, andRelease: boolean) => {
    // What ends right after the stall comes before any timer of the worker has looked at its leases.
    if (andRelease) release();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  },
  release: () => release(),
});
