/** What the doctor can find. */
export const FINDINGS = {
  "orphan-hash": "a job's hash whose id stands in no state",
  "missing-hash": "an id in a state without a job's hash",
  "half-hash": "a job's hash without a name",
  "two-places": "an id in two states, or twice in one",
  "active-without-owner": "a running job nobody owns",
  "owner-without-active": "an owner of a job that does not run",
  "stray-priority": "a kept priority of a job that is not in line",
  "wrong-priority": "a job in line whose kept priority is another, or none",
  "stray-verdict": "a verdict on a job that is not there to meet it",
  "stray-extra": "an id said to own further keys that owns none",
  "unnamed-extra": "keys of a job that nobody would remove with it",
  "stray-dedup": "a deduplication record whose job is gone",
  "owing-dedup": "a deduplication record whose job is gone while a successor waits for it",
  "held-alone": "a job kept back by deduplication that no record will free",
  trash: "a removed job whose keys still stand",
  "broken-counter":
    "a counter that is no whole number, is behind what it has counted, or has no expiry where it must have one",
  "wrong-type": "a key of a type its place does not have",
  "foreign-key": "a key under the queue's prefix that the wire does not know",
  "marker-empty": "jobs wait and nobody is woken",
} as const;

/** Kind of a finding. */
export type FindingKind = keyof typeof FINDINGS;

/** What the doctor tells and does not touch: only a person knows what it is. */
export const TOLD_ONLY: ReadonlySet<FindingKind> = new Set<FindingKind>([
  "wrong-type",
  "foreign-key",
]);

/** One thing that is broken. */
export interface Finding {
  readonly kind: FindingKind;
  /** The job, or the id of the record. */
  readonly id?: string;
  /** The key, where the finding is about a key. */
  readonly key?: string;
  /** What the kind means, in words. */
  readonly detail: string;
  /** It was mended. */
  readonly fixed: boolean;
}

/** What the doctor has seen, as plain JSON. */
export interface DoctorReport {
  readonly queue: string;
  /** Server ms. */
  readonly at: number;
  /** Nothing was found, or all that was found is mended. */
  readonly ok: boolean;
  /** Jobs and members looked at. */
  readonly looked: number;
  /** There is more: `limit` findings were reached. */
  readonly truncated: boolean;
  readonly findings: readonly Finding[];
}

/** Options of the doctor. */
export interface DoctorOptions {
  /** Mend what can be mended without a choice. Default false. */
  readonly fix?: boolean | undefined;
  /** How many findings to collect at most. Default 1 000. */
  readonly limit?: number | undefined;
}

/** Collects findings up to a limit. */
export class Findings {
  readonly #limit: number;
  readonly #list: Finding[] = [];
  readonly #known = new Set<string>();
  looked = 0;
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get full(): boolean {
    return this.#list.length >= this.#limit;
  }

  get list(): readonly Finding[] {
    return this.#list;
  }

  add(kind: FindingKind, at: { readonly id?: string; readonly key?: string }, fixed = false): void {
    const name = `${kind} ${at.id ?? ""} ${at.key ?? ""}`;
    if (this.#known.has(name)) return;
    if (this.full) {
      this.truncated = true;
      return;
    }
    this.#known.add(name);
    this.#list.push({ kind, ...at, detail: FINDINGS[kind], fixed });
  }
}
