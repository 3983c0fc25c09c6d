import type { Keep } from "../options/retention.js";

/** How long a busy worker may use `turn` before a `step` looks at due jobs and retention, in ms. */
const LOOK_MS = 20;
/** How long `turn` is left alone after the queue said that it needs `step`, in ms. */
const REFUSED_MS = 1_000;
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

  /** Whether the next call may be a `turn`. */
  fits(settles: number, claims: number, keep: Keep): boolean {
    const now = performance.now();
    if (keep.count > 0 && keep.count < EXACT_BELOW) return false;
    return (
      settles > 0 && claims > 0 && this.#plenty && now < this.#lookAt && now >= this.#refusedUntil
    );
  }

  /** A step was answered; `plenty` when it claimed all it asked for. */
  stepped(plenty: boolean, trimmed: number): void {
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
    this.#refusedUntil = performance.now() + REFUSED_MS;
  }

  /** A step found the queue paused, which says nothing of what comes after. */
  paused(): void {
    this.#refusedUntil = 0;
  }
}
