import { Worker } from "../../../src/index.js";
import { settings, tell } from "./tell.js";

// Tells each job it begins, ends those named "ok" and holds the others until it is killed.
const { url, name, options } = settings;
const worker = new Worker(
  name,
  async (job) => {
    tell(`begun ${job.id}`);
    if (job.name !== "ok") await new Promise(() => undefined);
    return "done";
  },
  { connection: url, ...options },
);
worker.on("error", () => undefined);
worker.on("completed", (job) => tell(`completed ${job.id}`));
worker.on("ready", () => tell("ready"));
