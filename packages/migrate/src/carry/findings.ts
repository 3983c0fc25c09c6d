import { Sample } from "./ids.js";

/** One difference between v1 and v2. */
export interface Finding {
  /** State, unit or kind in which it was seen. */
  readonly where: string;
  /** Job id, empty when it concerns the whole. */
  readonly id: string;
  readonly what: string;
}

/** Collects what a verification finds; it keeps the first entries and counts all. */
export class Findings {
  readonly differences: Sample<Finding> = new Sample();
  /** Members without a hash on either side. */
  readonly dangling: Sample<{ state: string; id: string }> = new Sample(1_000);

  differ(where: string, id: string, what: string): void {
    this.differences.add({ where, id, what });
  }
}
