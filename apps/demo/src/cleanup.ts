import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 10_000;

/** What has to be undone at the end, however the end comes. */
export class Cleanup {
  readonly #steps: (() => Promise<unknown>)[] = [];

  /** Adds a step; the last added runs first. */
  defer(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  /** Runs every step once; gives the messages of those that failed. */
  async run(): Promise<string[]> {
    const failures: string[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      const timer = new AbortController();
      const late = sleep(STEP_MS, undefined, { signal: timer.signal }).then(() => {
        throw new Error(`a step took longer than ${STEP_MS / 1_000} s`);
      });
      late.catch(() => undefined);
      try {
        await Promise.race([step(), late]);
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
      timer.abort();
    }
    return failures;
  }
}
