import { Queue } from "../../../src/index.js";
import { settings, tell } from "./tell.js";

// Adds `count` jobs as fast as it can and tells their ids, then ends by itself.
const { url, name, count } = settings;
const queue = new Queue(name, { connection: url });
const adds = Array.from({ length: count }, (_, n) => queue.add("job", { n, pid: process.pid }));
const jobs = await Promise.all(adds);
tell(jobs.map(({ id }) => id).join(","));
await queue.close();
process.disconnect?.();
