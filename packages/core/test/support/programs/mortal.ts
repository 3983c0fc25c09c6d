import { writeSync } from "node:fs";
import { Dispatcher } from "@echomq/scripts";
import { Queue, Worker } from "../../../src/index.js";
import { LIFE, lifeOf, lifeOptions, TOTAL } from "./mortal-jobs.js";

/** What the parent gives: at which step to die, and at which time it comes there; 0 for never. */
const { url, name, die, nth, claimAhead } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly url: string;
  readonly name: string;
  readonly die: string;
  readonly nth: number;
  readonly claimAhead: number;
};

/** Written at once: what was told before the end must have been told. */
function tell(text: string): void {
  writeSync(1, `${text}\n`);
}

const steps: string[] = [];

/** A step is the moment before a script is sent, or after its reply came. */
function hook(phase: "before" | "after", script: string): void {
  const step = `${phase} ${script}`;
  steps.push(step);
  if (step !== die || steps.filter((one) => one === step).length !== nth) return;
  tell(`died ${step}`);
  process.kill(process.pid, "SIGKILL");
}

const { open, over } = Dispatcher;
Dispatcher.open = (root, role, options, ...rest) =>
  open.call(Dispatcher, root, role, { ...options, hook }, ...rest);
Dispatcher.over = (root, options) => over.call(Dispatcher, root, { ...options, hook });

const queue = new Queue(name, { connection: url });
const [first, ...rest] = LIFE;
const one = await queue.add(first.name, first.data, first.opts);
tell(`added ${one.id} ${one.name}`);
for (const { id, name: which } of await queue.addBulk(rest)) tell(`added ${id} ${which}`);

const options = { connection: url, claimAhead, concurrency: 2, lockDuration: 200, autorun: false };
const worker = new Worker(name, lifeOf(tell), { ...lifeOptions(name), ...options });
worker.on("error", (error) => tell(`error ${error.message}`));
let ended = 0;
const all = new Promise<void>((resolve) => {
  const count = (): void => {
    ended += 1;
    if (ended === TOTAL) resolve();
  };
  worker.on("completed", count);
  worker.on("failed", (_job, _error, retried) => retried || count());
});
await worker.run();
await all;
await worker.close();
await queue.close();
tell(`steps ${steps.join(",")}`);
