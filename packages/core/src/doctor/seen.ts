import { randomInt } from "node:crypto";

/** Bits per id that is expected. */
const BITS = 32;
/** Bits each id sets. */
const MARKS = 12;
/** Most bits in all, 128 MB; beyond 33 million waiting jobs more is looked at twice. */
const MOST = 2 ** 30;

/**
 * Remembers ids in four bytes each, whatever their length: a Bloom filter. It never forgets one, and takes
 * about one in a million for seen that was not. So "seen" is a doubt to be looked into, never a finding;
 * and where "seen" means all is well, another seed of the next look shows what this one missed.
 */
export class SeenIds {
  readonly #words: Uint32Array;
  readonly #size: number;
  readonly #seeds = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;

  /** `expected` ids; more cost precision only. */
  constructor(expected: number) {
    const bits = Math.min(Math.max(expected, 1_000) * BITS, MOST);
    this.#words = new Uint32Array(Math.ceil(bits / 32));
    this.#size = this.#words.length * 32;
  }

  /** Whether the id was added, most likely. */
  has(id: string): boolean {
    return this.#places(id).every((at) => ((this.#words[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0);
  }

  add(id: string): void {
    for (const at of this.#places(id)) {
      const word = at >>> 5;
      this.#words[word] = (this.#words[word] ?? 0) | (1 << (at & 31));
    }
  }

  #places(id: string): number[] {
    const first = hash(id, this.#seeds[0]);
    // Odd, and unsigned again: a bitwise or makes it signed.
    const step = (hash(id, this.#seeds[1]) | 1) >>> 0;
    return Array.from({ length: MARKS }, (_, n) => (first + n * step) % this.#size);
  }
}

/** 32 bits of a text: FNV-1a over its code units, mixed so that every bit depends on all. */
function hash(text: string, seed: number): number {
  let h = seed ^ 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    h = Math.imul(h ^ text.charCodeAt(at), 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
