import { ShortLivedMap, ShortLivedSet } from "../short-lived.js";
import { compareEntries, type Place, START } from "./place.js";

/** How a job ended, as its event said. */
export type Ending =
  | {
      readonly how: "completed";
      readonly payload: Readonly<Record<string, unknown>>;
      readonly gone: boolean;
    }
  | {
      readonly how: "failed";
      readonly payload: Readonly<Record<string, unknown>>;
      readonly gone: boolean;
    }
  | { readonly how: "removed" };

/** What one who waits for a job is told. */
export interface Watcher {
  ended(ending: Ending): void;
  /** Events may be missing: look at the job itself. */
  doubt(): void;
  closed(): void;
}

/** Endings noted from the moment it was opened. */
export interface Recording {
  of(jobId: string): Ending | undefined;
  stop(): void;
}

/** Those who wait for single jobs of a queue. */
export class Watchers {
  readonly name: string;
  readonly ready: () => Promise<void>;
  readonly #byJob = new ShortLivedMap<string, Set<Watcher>>();
  readonly #recordings = new ShortLivedSet<Map<string, Ending>>();
  readonly #reaching = new ShortLivedSet<{
    readonly entry: string;
    readonly resolve: () => void;
  }>();
  #place: Place = START;
  #closed = false;

  constructor(name: string, ready: () => Promise<void>) {
    this.name = name;
    this.ready = ready;
  }

  /** Tells a watcher of the job's end; returns the way to stop. */
  watch(jobId: string, watcher: Watcher): () => void {
    const set = this.#byJob.get(jobId) ?? new Set();
    set.add(watcher);
    this.#byJob.set(jobId, set);
    if (this.#closed) queueMicrotask(() => watcher.closed());
    return () => {
      set.delete(watcher);
      if (set.size === 0 && this.#byJob.get(jobId) === set) this.#byJob.delete(jobId);
    };
  }

  /** Notes every ending from now on, for a job whose id is not known yet. */
  record(): Recording {
    const endings = new Map<string, Ending>();
    this.#recordings.add(endings);
    return { of: (id) => endings.get(id), stop: () => void this.#recordings.delete(endings) };
  }

  /** Resolves once every event up to an entry has been told. */
  reached(entry: string): Promise<void> {
    if (this.#closed || compareEntries(this.#place.entry, entry) >= 0) return Promise.resolve();
    return new Promise((resolve) => this.#reaching.add({ entry, resolve }));
  }

  ended(jobId: string, ending: Ending): void {
    for (const endings of this.#recordings) endings.set(jobId, ending);
    for (const watcher of [...(this.#byJob.get(jobId) ?? [])]) watcher.ended(ending);
  }

  /** Everything up to a place has been told. */
  at(place: Place): void {
    this.#place = place;
    for (const one of this.#reaching) {
      if (compareEntries(place.entry, one.entry) < 0) continue;
      this.#reaching.delete(one);
      one.resolve();
    }
  }

  doubt(): void {
    for (const set of this.#byJob.values()) for (const one of [...set]) one.doubt();
  }

  close(): void {
    this.#closed = true;
    for (const { resolve } of this.#reaching) resolve();
    this.#reaching.clear();
    for (const set of this.#byJob.values()) for (const one of [...set]) one.closed();
  }
}

/** Watchers of each `QueueEvents`, out of its public face. */
const known = new WeakMap<object, Watchers>();

export function keepWatchers(events: object, watchers: Watchers): void {
  known.set(events, watchers);
}

export function watchersOf(events: unknown): Watchers | undefined {
  return typeof events === "object" && events !== null ? known.get(events) : undefined;
}
