import { isJobId } from "../ids/is-job-id.js";
import { NO_TEXTS } from "../lists.js";

/** Fewest ids that are asked for when the list runs low. */
const ASK = 64;
/** Most candidates of one call: their keys cost bytes whether they are popped or not. */
const CANDIDATES_MAX = 250;
/** Claims of more jobs than this give up guessing when others take most of what was hinted. */
const GUESS_MAX = 16;
/** Share of guesses that must be right, and how long guessing stops when they are not, in ms. */
const GOOD_ENOUGH = 0.5;
const OFF_MS = 1_000;

/** What a claim asks of the hints, and what it takes to learn from its answer. */
export interface Guess {
  /** Ids whose hashes the claim declares. */
  readonly candidates: readonly string[];
  /** How many upcoming ids the claim asks to be named, 0 for none. */
  readonly ask: number;
  /** Jobs claimed for so far, this claim included. */
  readonly upTo: number;
}

/**
 * Ids that are probably popped next. A claim that declares their hashes gets their fields in the same
 * call. A wrong guess costs bytes, never correctness: what was not declared is begun in a second call.
 *
 * A cursor stands behind what the claims in flight will pop, so that two of them do not name the same.
 */
export class Hints {
  #ids: readonly string[] = NO_TEXTS;
  #at = 0;
  /** Jobs claimed for so far. */
  #claims = 0;
  #asked = false;
  /** How many ids others take between two claims of ours, as last seen. */
  #skip = 0;
  /** Moving share of claimed jobs that were among the candidates. */
  #hits = 1;
  #offUntil = 0;

  /** Others take what large claims expect: each of those is begun in a second call. */
  get contended(): boolean {
    return performance.now() < this.#offUntil;
  }

  /** How many of a claim of `count` jobs could be declared. */
  known(count: number): number {
    if (this.#off(count)) return 0;
    return Math.min(count, this.#ids.length - this.#at);
  }

  /** What a claim of `count` jobs declares, and asks for when the list runs low. */
  guess(count: number): Guess {
    const off = this.#off(count);
    const most = Math.min(Math.ceil(count + 1.5 * this.#skip), CANDIDATES_MAX);
    const next = off ? NO_TEXTS : this.#ids.slice(this.#at, this.#at + most);
    const candidates = next.every(isJobId) ? next : next.filter(isJobId);
    this.#at = Math.min(this.#at + count, this.#ids.length);
    this.#claims += count;
    const left = this.#ids.length - this.#at;
    const ask = off || this.#asked || left >= 2 * count + this.#skip ? 0 : wantedFor(count);
    this.#asked ||= ask > 0;
    return { candidates, ask, upTo: this.#claims };
  }

  /** A marker named this id. */
  woken(id: string): void {
    this.#ids = [id];
    this.#at = 0;
  }

  /** The answer to a claim is not known. */
  failed({ ask }: Guess): void {
    if (ask > 0) this.#asked = false;
    this.#ids = NO_TEXTS;
    this.#at = 0;
  }

  /** Takes in what a claim popped, and the ids it named if it was asked to. */
  popped(guess: Guess, ids: readonly string[], named: readonly string[]): void {
    const later = this.#claims - guess.upTo;
    if (ids.length > 0) this.#learn(guess.candidates, ids, later);
    if (guess.ask === 0) return;
    this.#asked = false;
    this.#ids = named;
    // Claims that are on their way pop the first of these.
    this.#at = Math.min(later, named.length);
  }

  #learn(candidates: readonly string[], ids: readonly string[], later: number): void {
    const asGuessed = ids.every((id, at) => id === candidates[at]);
    const guessed = asGuessed ? ids.length : countIn(candidates, ids);
    // Of what was named: a claim for which nothing was known tells nothing of others.
    const named = Math.min(candidates.length, ids.length);
    if (named > 0) this.#hits = 0.8 * this.#hits + 0.2 * (guessed / named);
    if (asGuessed) {
      this.#skip = 0;
      return;
    }
    const first = candidates.indexOf(ids[0] ?? "");
    this.#skip = Math.min(first >= 0 ? first : candidates.length, CANDIDATES_MAX);
    const last = this.#ids.indexOf(ids.at(-1) ?? "");
    // Not found: the list tells of another time.
    if (last < 0) this.#ids = NO_TEXTS;
    this.#at = Math.min(last + 1 + later, this.#ids.length);
    if (this.#hits < GOOD_ENOUGH && ids.length > GUESS_MAX) {
      this.#offUntil = performance.now() + OFF_MS;
      this.#hits = 1;
    }
  }

  #off(count: number): boolean {
    return count > GUESS_MAX && this.contended;
  }
}

function wantedFor(count: number): number {
  return Math.min(Math.max(ASK, 4 * count), CANDIDATES_MAX);
}

function countIn(candidates: readonly string[], ids: readonly string[]): number {
  const declared = new Set(candidates);
  return ids.filter((id) => declared.has(id)).length;
}
