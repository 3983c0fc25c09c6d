import { ours } from "./ours.js";
import { peer } from "./peer.js";
import type { Side, SideName } from "./types.js";

export const SIDES: Readonly<Record<SideName, Side>> = { ours, peer };
