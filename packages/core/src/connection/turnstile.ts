// As it was before a test put another in its place, whose clock may stand still.
const later = setImmediate;

/**
 * Lets one answer through in each turn of the event loop. A server that has read two calls at once
 * answers them at once. Taken in together, they would be followed by two more that meet again, and
 * client and server would wait for each other in turns. Taken in one after the other, the server works
 * on what follows the first while the second is taken in here.
 */
export class Turnstile {
  #closed = false;

  /** Undefined for the first in a turn of the event loop; for others what resolves in one of the next. */
  pass(): Promise<void> | undefined {
    if (this.#closed) return this.#queue();
    this.#close();
    return undefined;
  }

  async #queue(): Promise<void> {
    while (this.#closed) await new Promise((resolve) => void later(resolve));
    this.#close();
  }

  #close(): void {
    this.#closed = true;
    later(this.#open);
  }

  readonly #open = (): void => {
    this.#closed = false;
  };
}
