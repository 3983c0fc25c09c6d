import type { DriverState, LaneRole, RedisDriver } from "../driver/types.js";

/**
 * A driver lane that can be thrown away and opened anew. A connection that went silent never settles
 * what is in flight, and only a new one helps.
 */
export class LaneHolder {
  readonly #root: RedisDriver;
  readonly #role: LaneRole;
  readonly #listeners = new Set<(state: DriverState) => void>();
  #driver: RedisDriver;
  #stop: () => void;
  #epoch = 1;
  #closed = false;
  #replacing: Promise<void> | undefined;
  /** Gives up what is being opened. */
  readonly #end = new AbortController();

  private constructor(root: RedisDriver, role: LaneRole, driver: RedisDriver) {
    this.#root = root;
    this.#role = role;
    this.#driver = driver;
    this.#stop = this.#watch(driver);
  }

  /** Opens a lane of `role` beside `root`, which stays the caller's. */
  static async open(root: RedisDriver, role: LaneRole, signal?: AbortSignal): Promise<LaneHolder> {
    return new LaneHolder(root, role, await root.fork(role, signal));
  }

  /** Uses `root` as the lane until it must be replaced; `root` stays the caller's to close. */
  static over(root: RedisDriver): LaneHolder {
    return new LaneHolder(root, "main", root);
  }

  get driver(): RedisDriver {
    return this.#driver;
  }

  /** Counts connections of this lane, replacements included. */
  get epoch(): number {
    return this.#epoch;
  }

  get ready(): boolean {
    return this.#driver.state.status === "ready";
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls `listener` on each change of state; returns the way to stop. */
  onState(listener: (state: DriverState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Throws the connection away and opens another. Never rejects: the next call meets the failure. */
  async replace(): Promise<void> {
    if (this.#closed) return;
    this.#replacing ??= this.#swap().finally(() => {
      this.#replacing = undefined;
    });
    await this.#replacing;
  }

  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    this.#closed = true;
    this.#end.abort();
    this.#stop();
    if (this.#driver !== this.#root) await this.#driver.close(mode);
    await this.#replacing;
  }

  async #swap(): Promise<void> {
    const old = this.#driver;
    this.#stop();
    this.#epoch += 1;
    if (old !== this.#root) await old.close("now");
    try {
      const next = await this.#root.fork(this.#role, this.#end.signal);
      if (this.#closed) {
        await next.close("now");
        return;
      }
      this.#driver = next;
      this.#stop = this.#watch(next);
      this.#tell({ ...next.state, epoch: this.#epoch });
    } catch {
      // The server is away: the closed lane answers every call with a fault, and the caller's next
      // timeout or retry comes here again.
    }
  }

  #watch(driver: RedisDriver): () => void {
    let seen = driver.state.epoch;
    return driver.onState((state) => {
      if (state.status === "ready" && state.epoch !== seen) {
        seen = state.epoch;
        this.#epoch += 1;
      }
      this.#tell({ ...state, epoch: this.#epoch });
    });
  }

  #tell(state: DriverState): void {
    for (const listener of this.#listeners) listener(state);
  }
}
