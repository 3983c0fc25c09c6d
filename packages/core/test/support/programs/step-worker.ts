import { DelayedError, WaitingError, Worker } from "../../../src/index.js";
import { settings, tell } from "./tell.js";

interface Steps {
  readonly step: number;
  readonly done: readonly number[];
}

// A job of three steps that moves itself after each; without `go` it is stuck in the second.
const { url, name, options } = settings;
const { go, ...rest } = options;
const worker = new Worker<{ steps: { data: Steps; result: readonly number[] } }>(
  name,
  async (job) => {
    const { step, done } = job.data;
    tell(`step ${step}`);
    if (step === 2 && go !== true) await new Promise(() => undefined);
    const next = { step: step + 1, done: [...done, step] };
    await job.updateData(next);
    if (step === 1) throw new WaitingError();
    if (step === 2) {
      await job.moveToDelayed(Date.now() + 20);
      throw new DelayedError();
    }
    return next.done;
  },
  { connection: url, ...rest },
);
worker.on("error", () => undefined);
