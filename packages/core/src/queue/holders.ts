import { kindKey, stampKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import type { CheckedDeduplication } from "../options/deduplication.js";

/** Most deduplication ids whose holder is remembered. */
const KNOWN_MAX = 1_000;

/** A deduplication and the place, from 1, of its item in the call. */
export interface Lock extends CheckedDeduplication {
  readonly item: number;
}

/** What `add` takes of its locks. */
export interface Locks {
  readonly dedups: readonly string[];
  readonly holders: readonly string[];
  readonly locks: readonly { item: number; holder: number; ttl: number; flags: number }[];
}

/**
 * Which job is believed to hold which deduplication record. The script verifies it, so what is out of
 * date here costs a second call and nothing else.
 */
export class Holders {
  readonly #known = new Map<string, string>();

  /** What a call declares for its locks. */
  declare(locks: readonly Lock[]): Locks {
    const holders: string[] = [];
    const place = (id: string): number => {
      const holder = this.#known.get(id);
      if (holder === undefined) return 0;
      const at = holders.indexOf(holder);
      return at === -1 ? holders.push(holder) : at + 1;
    };
    const rows = locks.map(({ id, item, ttl, flags }) => ({ item, holder: place(id), ttl, flags }));
    return { dedups: locks.map(({ id }) => id), holders, locks: rows };
  }

  /** Learns from the answer of one item: `added`, or `<word> <holder>`. */
  learn(dedup: string, id: string, status: string): void {
    const [word, holder = ""] = wordOf(status);
    if (word === "added" || word === "replaced") this.#set(dedup, id);
    else if (word === "deduplicated" || word === "held") this.#set(dedup, holder);
  }

  /** Reads what the records of some ids say now. */
  async read(session: Session, dedups: readonly string[], op: string): Promise<void> {
    const ids = [...new Set(dedups)];
    // The command that the script uses too, so whoever may add may ask.
    const reads = ids.map((id) => ["HMGET", kindKey(session.q, "dedup", id), "job"]);
    const found = await session.main.readMany(reads, { key: stampKey(session.q) }, { op });
    for (const [at, id] of ids.entries()) {
      const [holder] = found[at] as readonly (string | null)[];
      this.#set(id, holder ?? "");
    }
  }

  /** The id last read for a record. */
  of(dedup: string): string | undefined {
    return this.#known.get(dedup);
  }

  #set(dedup: string, holder: string): void {
    // Taken out first, so that the oldest of the map is the one not used for longest.
    this.#known.delete(dedup);
    if (!isJobId(holder)) return;
    this.#known.set(dedup, holder);
    if (this.#known.size > KNOWN_MAX) {
      this.#known.delete(this.#known.keys().next().value ?? dedup);
    }
  }
}

/** A status cut into its word and what follows. */
export function wordOf(status: string): readonly [word: string, rest?: string] {
  const space = status.indexOf(" ");
  return space === -1 ? [status] : [status.slice(0, space), status.slice(space + 1)];
}
