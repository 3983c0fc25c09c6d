import { EchoMQError } from "@echomq/wire";
import type { Drained } from "./types.js";

/** The processor was begun as often as allowed, and there is still something to run. */
export class DrainLimitError extends EchoMQError {
  override readonly name: string = "DrainLimitError";
  /** What had happened until then. */
  readonly drained: Drained;

  constructor(queue: string, limit: number, drained: Drained) {
    super({
      code: "DRAIN_LIMIT",
      message: `there are still jobs to run after ${limit} runs; if the queue ends, raise \`limit\``,
      op: "drainQueue",
      queue,
    });
    this.drained = drained;
  }
}
