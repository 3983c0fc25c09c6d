import type { Family } from "../bench.js";
import { active } from "./active.js";
import { adds } from "./add.js";
import { drains } from "./drain.js";
import { latency } from "./latency.js";
import { memory } from "./memory.js";

/** Every family, in the order they run. */
export const FAMILIES: readonly Family[] = [...drains, ...adds, memory, latency, active];
