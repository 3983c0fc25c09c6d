import { Queue, Worker } from "../../../src/index.js";
import { heard, settings, tell } from "./tell.js";

// Works until it hears "close", closes, and must then end by itself: no exit is called.
const { url, name, timeout, options } = settings;
const queue = new Queue(name, { connection: url, retryTime: 500, commandTimeout: 500 });
const worker = new Worker(
  name,
  async (job) => {
    tell(`begun ${job.id}`);
    if (job.name !== "ok") await new Promise(() => undefined);
  },
  { connection: url, retryTime: 500, commandTimeout: 500, ...options },
);
worker.on("error", (error) => tell(`error ${(error as { code?: string }).code}`));
worker.on("ready", () => tell("ready"));
queue.add("ok", {}).then(
  () => tell("added"),
  (error: { code?: string }) => tell(`refused ${error.code}`),
);
const asked = heard("close");
tell("up");
await asked;
await Promise.all([worker.close({ timeout }), queue.close()]);
