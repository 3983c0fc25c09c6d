import type { DriverState } from "../driver/types.js";

/** A lane's state and those who watch it. A listener that throws harms neither lane nor others. */
export class StateCell {
  #state: DriverState;
  readonly #listeners = new Set<(state: DriverState) => void>();

  constructor(state: DriverState) {
    this.#state = state;
  }

  get value(): DriverState {
    return this.#state;
  }

  set(state: DriverState): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) {
      try {
        listener(state);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  watch(listener: (state: DriverState) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
