import type { Happened } from "../history.js";
import type { Known } from "./jobs.js";

/**
 * Finds jobs that were claimed before others that joined the same line ahead of them. Only those count
 * whose place is certain: they joined at the back, and nothing was asked of them since.
 */
export function outOfOrder(
  events: readonly Happened[],
  jobs: ReadonlyMap<string, Known>,
): string[] {
  const lines = new Map<number, Line>();
  const rankOf = (id: string): number | undefined => {
    const { plan, ops } = jobs.get(id) ?? {};
    if (plan === undefined || plan.lifo || ops?.has("priority") || ops?.has("cancel"))
      return undefined;
    return plan.priority;
  };
  const found: string[] = [];
  const stands = new Map<string, string>();
  for (const { id, code } of events) {
    const rank = rankOf(id);
    if (rank === undefined) continue;
    const line = lines.get(rank) ?? new Line();
    lines.set(rank, line);
    const before = stands.get(id);
    if (code === "a") {
      const { first } = line;
      if (line.has(id) && first !== undefined && first !== id) {
        found.push(`${id} was claimed before ${first}, which joined line ${rank} ahead of it`);
      }
    }
    if ("wdacfrsx".includes(code)) {
      line.delete(id);
      stands.set(id, code);
    }
    // What comes back from a run may have gone to the head.
    const joins = code === "r" || (code === "w" && before !== "a" && before !== "w");
    if (joins) line.add(id);
  }
  return found;
}

/** Ids in the order in which they joined. A set would look at all who have left for each who is first. */
class Line {
  readonly #joined: string[] = [];
  /** Where each stands in it. */
  readonly #places = new Map<string, number>();
  #head = 0;

  get first(): string | undefined {
    const joined = this.#joined;
    while (this.#head < joined.length) {
      const id = joined[this.#head] ?? "";
      if (this.#places.get(id) === this.#head) return id;
      this.#head += 1;
    }
    return undefined;
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  add(id: string): void {
    this.#places.set(id, this.#joined.push(id) - 1);
  }

  delete(id: string): void {
    this.#places.delete(id);
  }
}
