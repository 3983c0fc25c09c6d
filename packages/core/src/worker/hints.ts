import { isJobId } from "../ids/is-job-id.js";

/** How many ids are asked for when the list runs low. */
const ASK = 64;
/** Most candidates of one call: their keys cost bytes whether they are popped or not. */
const CANDIDATES_MAX = 250;
/** Claims of more jobs than this give up guessing when others take most of what was hinted. */
const GUESS_MAX = 16;
/** Share of guesses that must be right, and how long guessing stops when they are not, in ms. */
const GOOD_ENOUGH = 0.5;
const OFF_MS = 1_000;

/**
 * Ids that are probably popped next. A claim that declares their hashes gets their fields in the same
 * call. A wrong guess costs bytes, never correctness: what was not declared is begun in a second call.
 */
export class Hints {
  #ids: readonly string[] = [];
  /** How many ids others take between two claims of ours, as last seen. */
  #skip = 0;
  /** Moving share of claimed jobs that were among the candidates. */
  #hits = 1;
  #offUntil = 0;

  /** What to declare for a claim of `count` jobs. */
  candidates(count: number): readonly string[] {
    if (count > GUESS_MAX && performance.now() < this.#offUntil) return [];
    const most = Math.min(Math.ceil(count + 1.5 * this.#skip), CANDIDATES_MAX);
    return this.#ids.slice(0, most).filter(isJobId);
  }

  /** How many ids to ask for beside a claim of `count` jobs; 0 while there are enough. */
  ask(count: number): number {
    if (this.#ids.length >= 2 * count + this.#skip) return 0;
    return Math.min(Math.max(ASK, 2 * count), CANDIDATES_MAX);
  }

  /** A marker named this id. */
  woken(id: string): void {
    this.#ids = [id];
  }

  /** Takes in what a claim popped, how many of it were guessed, and the ids it named, if asked. */
  popped(ids: readonly string[], guessed: number, named: readonly string[] | null): void {
    if (ids.length > 0) {
      this.#hits = 0.8 * this.#hits + 0.2 * (guessed / ids.length);
      const first = this.#ids.indexOf(ids[0] ?? "");
      this.#skip = Math.min(first >= 0 ? first : this.#ids.length, CANDIDATES_MAX);
      const last = this.#ids.indexOf(ids.at(-1) ?? "");
      // Not found: the list tells of another time.
      this.#ids = last >= 0 ? this.#ids.slice(last + 1) : [];
      if (this.#hits < GOOD_ENOUGH && ids.length > GUESS_MAX) {
        this.#offUntil = performance.now() + OFF_MS;
        this.#hits = 1;
      }
    }
    if (named !== null) this.#ids = named;
  }
}
