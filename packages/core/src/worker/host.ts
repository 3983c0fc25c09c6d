import type { EchoMQError } from "@echomq/wire";
import type { LeaseLostError } from "./errors.js";
import type { Settlement } from "./outcome.js";
import type { Run } from "./run.js";

/** What the engine needs of the worker it works for. */
export interface EngineHost {
  /** Runs the handler; `done` is told once, later, how the run ended: null when nothing may be written. */
  execute(run: Run, done: (run: Run, end: Settlement | null) => void): void;
  /** The end was written. */
  settled(settlement: Settlement): void;
  /** The run's lease is gone. */
  lost(run: Run, error: LeaseLostError): void;
  drained(): void;
  /** Slots are free and there is nothing to claim; the next due time in server ms, 0 for none. */
  idle(due: number): void;
  /** Delayed jobs wait for this time, in server ms. */
  due(at: number): void;
  /** Ids whose keys are left to remove. */
  bury(ids: readonly string[]): void;
  /** Trouble that the engine goes on after. */
  trouble(error: unknown): void;
  /** Trouble that ends the worker. */
  fatal(error: EchoMQError): void;
}
