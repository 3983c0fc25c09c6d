/** A process of the soak. The clock comes first, so that nothing has seen the right one. */

import { fileOf, Recorder } from "../records.js";
import { Producer } from "./producer.js";
import { type ChildSettings, GAP_MS, type Order } from "./protocol.js";
import { stepClock, trueNow } from "./shift.js";
import { work } from "./worker.js";

const settings = JSON.parse(process.argv[2] ?? "{}") as ChildSettings;
const recorder = new Recorder(fileOf(settings.folder, settings.name));

// Whoever started this is gone: nobody would end it any more.
process.on("disconnect", () => {
  if (!closing) process.exit(0);
});
let closing = false;

// A machine that stands still excuses a lease that is lost.
let last = trueNow();
setInterval(() => {
  const now = trueNow();
  if (now - last > GAP_MS) recorder.write({ e: "gap", at: now, ms: now - last });
  last = now;
}, 50).unref();

let hear: (order: Order) => void;
if (settings.role === "worker") {
  hear = await work(settings, recorder);
} else {
  const producer = new Producer(settings, recorder);
  hear = (order) => producer.hear(order);
  void producer.run().then(() => process.disconnect?.());
}
process.on("message", (order: Order) => {
  if (order.type === "close" || order.type === "stop") closing = true;
  if (order.type === "shift") stepClock(order.ms);
  else hear(order);
});
process.send?.("ready");
