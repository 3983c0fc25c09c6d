/** Who runs next: jobs without a priority, then those with one by rank; each list head first. */
export class Line {
  readonly plain: string[] = [];
  readonly #ranked = new Map<number, string[]>();

  /** Ids with a priority, next first. */
  get ranked(): string[] {
    return [...this.#ranked].sort(([a], [b]) => a - b).flatMap(([, ids]) => ids);
  }

  get length(): number {
    return this.plain.length + this.ranked.length;
  }

  of(priority: number): string[] {
    if (priority === 0) return this.plain;
    const ids = this.#ranked.get(priority) ?? [];
    this.#ranked.set(priority, ids);
    return ids;
  }

  back(id: string, priority: number): void {
    this.of(priority).push(id);
  }

  front(id: string, priority: number): void {
    this.of(priority).unshift(id);
  }

  /** The next `count` ids, taken out. */
  take(count: number): string[] {
    const taken = [...this.plain, ...this.ranked].slice(0, count);
    for (const id of taken) this.leave(id);
    return taken;
  }

  /** Takes an id out, wherever it stands; whether it stood. */
  leave(id: string): boolean {
    for (const ids of [this.plain, ...this.#ranked.values()]) {
      const at = ids.indexOf(id);
      if (at === -1) continue;
      ids.splice(at, 1);
      return true;
    }
    return false;
  }

  clear(): void {
    this.plain.length = 0;
    this.#ranked.clear();
  }
}
