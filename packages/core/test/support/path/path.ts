import { ADDING } from "./adding.js";
import type { PathCase } from "./case.js";
import { LOOKING } from "./looking.js";
import { MOVING } from "./moving.js";
import { REFUSING } from "./refusing.js";
import { WORK } from "./work.js";

/** The core path: every script and every refusal through the public API, as far as it can be met there. */
export const PATH: readonly PathCase[] = [...WORK, ...ADDING, ...MOVING, ...LOOKING, ...REFUSING];
