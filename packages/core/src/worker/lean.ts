import type { Keep } from "../options/retention.js";

/** How long a busy worker may use `turn` before a `step` looks at due jobs and retention, in ms. */
const LOOK_MS = 20;
/** How long `turn` is left alone after the queue said that it needs `step`, in ms. */
const REFUSED_MS = 1_000;
/** How long a worker that is woken begins with `step` after that, in ms: with `turn` each job would wait for both. */
const WARY_MS = 60_000;
/** As many as one call trims: there may be more to trim. */
const TRIMMED = 100;
/** A retention of fewer jobs than this is kept exactly, by `step`; a larger one every now and then. */
const EXACT_BELOW = 1_000;

/**
 * Decides between `turn`, which declares the fewest keys, and `step`, which sees everything: priorities,
 * due jobs, limits, verdicts, retention.
 */
export class Lean {
  #plenty = false;
  #lookAt = 0;
  #refusedUntil = 0;
  #waryUntil = 0;
  #woken = false;

  /**
   * Whether the next call may be a `turn`. `more` where slots are left for another claim behind it: that one
   * is a `step`, and sees what this one does not.
   */
  fits(settles: number, claims: number, keep: Keep, more: boolean): boolean {
    const now = performance.now();
    if (claims === 0 || now < this.#refusedUntil) return false;
    if (keep.count > 0 && keep.count < EXACT_BELOW) return false;
    if (this.#woken && more && now >= this.#waryUntil) {
      this.#woken = false;
      this.#plenty = false;
      return true;
    }
    return settles > 0 && this.#plenty && now < this.#lookAt;
  }

  /** A job was named that waits: the cheaper script gets it sooner. */
  woken(): void {
    this.#woken = true;
  }

  /** A step was answered; `plenty` when it claimed all it asked for. */
  stepped(plenty: boolean, trimmed: number): void {
    this.#woken = false;
    this.#plenty = plenty;
    this.#lookAt = performance.now() + (trimmed < TRIMMED ? LOOK_MS : 0);
  }

  /** A turn found less than it asked for: only `step` knows whether the queue is empty. */
  ranShort(): void {
    this.#plenty = false;
  }

  /** The queue has a limit, a verdict or the like: every claim counts. */
  get limited(): boolean {
    return performance.now() < this.#refusedUntil;
  }

  /** A turn was refused: the queue has a setting of which only `step` knows, or is paused. */
  refused(): void {
    const now = performance.now();
    this.#refusedUntil = now + REFUSED_MS;
    this.#waryUntil = now + WARY_MS;
  }

  /** A step found the queue paused, which says nothing of what comes after. */
  paused(): void {
    this.#refusedUntil = 0;
    this.#waryUntil = 0;
  }
}
