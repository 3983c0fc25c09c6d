import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { field } from "./counters.js";

const PAUSE_MS = 100;
const QUIET_READS = 5;
const READS_MAX = 100;

/** `used_memory` in bytes once it stands still: buffers of closed clients are freed a little later. */
export async function settledMemory(control: Redis): Promise<number> {
  await control.call("MEMORY", "PURGE");
  let last = -1;
  let same = 0;
  for (let read = 0; read < READS_MAX && same < QUIET_READS; read += 1) {
    const used = field(await control.info("memory"), "used_memory");
    same = Math.abs(used - last) < 1_024 ? same + 1 : 0;
    last = used;
    await sleep(PAUSE_MS);
  }
  return last;
}
