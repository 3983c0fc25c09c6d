import type { RedisDriver, ScriptName } from "@echomq/scripts";
import type { Bench } from "../bench.js";
import type { Recorder, Refusal } from "./recorder.js";

/** Where a case runs: a queue of its own on one server, driver and mode. */
export interface Place {
  readonly bench: Bench;
  /** The driver below the recorder, for what the test itself asks. */
  readonly driver: RedisDriver;
  readonly seen: Recorder;
}

/** One case of the core path: what it proves, and the scripts and refusals it must meet for that. */
export interface PathCase {
  readonly title: string;
  readonly scripts: readonly ScriptName[];
  readonly refusals?: readonly Refusal[];
  readonly run: (place: Place) => Promise<void>;
}
