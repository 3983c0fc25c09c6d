import { Sample } from "./ids.js";

/** One difference between v1 and v2. */
export interface Finding {
  /** State, unit or kind in which it was seen. */
  readonly where: string;
  /** Job id, empty when it concerns the whole. */
  readonly id: string;
  readonly what: string;
}

const SHOWN = 20;

/** Collects what a verification finds; it counts all and keeps the first of each place. */
export class Findings {
  readonly #places = new Map<string, Sample<Finding>>();
  /** Members without a hash on either side. */
  readonly dangling: Sample<{ state: string; id: string }> = new Sample(1_000);

  differ(where: string, id: string, what: string): void {
    const place = this.#places.get(where) ?? new Sample<Finding>(SHOWN);
    this.#places.set(where, place);
    place.add({ where, id, what });
  }

  get count(): number {
    return [...this.#places.values()].reduce((total, { count }) => total + count, 0);
  }

  get first(): readonly Finding[] {
    return [...this.#places.values()].flatMap(({ first }) => first);
  }
}
