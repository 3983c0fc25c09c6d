/**
 * Collections for what comes and goes with every job. A `Map` or `Set` out of which members are taken is
 * written anew now and then, and each of its tables points to the next one. Once V8 has moved one of
 * them to its old space, which takes one collection at the wrong moment, it keeps all tables after it,
 * and the jobs they held, until the next full collection: every small one copies them (docs/adr/0075).
 * So these begin with a table that none points to after every so many members taken out.
 */
const TAKEN_MOST = 256;

/** A `Map` of short-lived members, in the order in which they were put in. */
export class ShortLivedMap<K, V> {
  #map = new Map<K, V>();
  #taken = 0;

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    this.#map.set(key, value);
  }

  delete(key: K): boolean {
    const there = this.#map.delete(key);
    if (there && ++this.#taken >= Math.max(TAKEN_MOST, this.#map.size)) {
      this.#taken = 0;
      this.#map = new Map(this.#map);
    }
    return there;
  }

  keys(): K[] {
    return [...this.#map.keys()];
  }

  values(): V[] {
    return [...this.#map.values()];
  }
}

/** A `Set` of short-lived members, in the order in which they were added. */
export class ShortLivedSet<T> implements Iterable<T> {
  #set = new Set<T>();
  #taken = 0;

  add(member: T): void {
    this.#set.add(member);
  }

  delete(member: T): boolean {
    const there = this.#set.delete(member);
    if (there && ++this.#taken >= Math.max(TAKEN_MOST, this.#set.size)) {
      this.#taken = 0;
      this.#set = new Set(this.#set);
    }
    return there;
  }

  clear(): void {
    this.#set = new Set();
  }

  /** Those that are there now: what is taken out meanwhile is still told. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#set].values();
  }
}
