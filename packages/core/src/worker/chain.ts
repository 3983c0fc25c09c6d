/** A member's place in a chain. */
export interface Link<T> {
  readonly member: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * Members in the order in which they were added, for what comes and goes with every job. Not a `Set`: see
 * `short-lived.ts`. A link that was taken out points to no other, so nothing hangs on it.
 */
export class Chain<T> implements Iterable<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a member at the end; its link takes it out again. */
  add(member: T): Link<T> {
    const link: Link<T> = { member, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** Takes a member out, once. */
  take(link: Link<T>): void {
    const { before, after } = link;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    link.before = undefined;
    link.after = undefined;
    this.#size -= 1;
  }

  /** Those that are there now: what is taken out meanwhile is still told. */
  [Symbol.iterator](): Iterator<T> {
    const members: T[] = [];
    for (let link = this.#first; link; link = link.after) members.push(link.member);
    return members.values();
  }
}
