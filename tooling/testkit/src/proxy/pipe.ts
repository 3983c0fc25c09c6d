import type { Socket } from "node:net";

/** How one direction treats what arrives now. */
export interface PipeMode {
  /** Nothing is forwarded while true; it is kept and goes out afterwards. */
  readonly held: boolean;
  /** Milliseconds each chunk waits. */
  readonly delayMs: number;
}

interface Item {
  /** Null for the end of the stream. */
  readonly chunk: Buffer | null;
  readonly due: number;
}

/** One direction of one connection. Order is kept, and the end of the stream waits like data. */
export class Pipe {
  readonly #to: Socket;
  readonly #mode: () => PipeMode;
  readonly #forwarded: (bytes: number) => void;
  readonly #queue: Item[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(to: Socket, mode: () => PipeMode, forwarded: (bytes: number) => void) {
    this.#to = to;
    this.#mode = mode;
    this.#forwarded = forwarded;
  }

  push(chunk: Buffer | null): void {
    this.#queue.push({ chunk, due: performance.now() + this.#mode().delayMs });
    this.flush();
  }

  /** Sends what may go now; to be called when the mode changed. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const mode = this.#mode();
    if (mode.held) return;
    for (let item = this.#queue[0]; item !== undefined; item = this.#queue[0]) {
      const wait = mode.delayMs === 0 ? 0 : item.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.flush(), wait);
        return;
      }
      this.#queue.shift();
      this.#send(item.chunk);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #send(chunk: Buffer | null): void {
    if (this.#to.destroyed) return;
    if (chunk === null) {
      this.#to.end();
      return;
    }
    this.#to.write(chunk);
    this.#forwarded(chunk.length);
  }
}
