/** How long an end may wait for others to share its call while claimed jobs stand ready, in ms. */
const SHARE_MS = 2;

/** What a worker has at hand when it could send a call. */
export interface AtHand {
  /** Jobs it may hold beyond its slots, 0 where it claims none ahead. */
  readonly ahead: number;
  /** Claimed jobs that wait for a slot. */
  readonly ready: number;
  /** Ends that wait to be written. */
  readonly pending: number;
  readonly calls: number;
}

/** Holds a call back for a while, so that it carries more: there is work at hand meanwhile. */
export class Share {
  readonly #over: () => void;
  #timer: NodeJS.Timeout | undefined;
  #late = false;

  /** `over` is called when a call has waited long enough. */
  constructor(over: () => void) {
    this.#over = over;
  }

  waits({ ahead, ready, pending, calls }: AtHand): boolean {
    // A call in flight brings more: what is left of the rest is work enough until then.
    const plenty = 2 * ready > ahead || (ready > 0 && calls > 0);
    const early = plenty && 2 * pending < ahead;
    if (ahead === 0 || !early || this.#late) {
      this.stop();
      this.#late = false;
      return false;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#late = true;
      this.#over();
    }, SHARE_MS);
    return true;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
