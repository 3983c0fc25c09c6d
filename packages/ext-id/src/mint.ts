import { IdError, shown } from "./errors.js";
import { EPOCH_MS, MAX, pack, part } from "./layout.js";
import type { SnowflakeId } from "./snowflake.js";

/** Settings of a mint. */
export interface MintOptions {
  /** Number of this process, 0 to 1023; two live mints with one number repeat ids. */
  readonly node: number;
  /** Unix time in ms; `Date.now` unless given. It may step back or stand still. */
  readonly clock?: (() => number) | undefined;
}

/** Makes ids that never repeat and only grow. */
export interface Mint {
  readonly node: number;
  /**
   * The next id.
   * @throws IdError `ID` when the clock gives no number, stands before 2024 at the first id, or the
   * ids of 63 bits are used up (in the year 2093).
   */
  next(): SnowflakeId;
}

/** Ids of one millisecond share all decimal digits but the last five. */
const LOW = 100_000;

/**
 * Makes a mint. Its ids grow whatever the clock does: while the clock is behind the last id, the
 * mint counts on from there. When the 4096 ids of a millisecond are used up it borrows the next one,
 * so ids may run ahead of the clock; they never wait and never repeat. A mint remembers nothing across
 * processes: give a number to one live process at a time.
 * @throws IdError `ID` when `node` is out of range.
 */
export function createMint(options: MintOptions): Mint {
  const node = part("node", options.node);
  const clock = options.clock ?? Date.now;
  let ts = -1;
  let seq: number = MAX.seq;
  // the first id of the millisecond, split so that an id costs no bigint: head * 100 000 + tail
  let head = "";
  let tail = 0;

  function open(millisecond: number): void {
    if (millisecond > MAX.ts) {
      throw new IdError(
        `clock: must be unix ms up to ${EPOCH_MS + MAX.ts}, got ${EPOCH_MS + millisecond}`,
      );
    }
    const first = pack({ ts: millisecond, node, seq: 0 });
    head = (first / BigInt(LOW)).toString();
    tail = Number(first % BigInt(LOW));
    ts = millisecond;
    seq = 0;
  }

  function next(): SnowflakeId {
    const read = clock();
    const now = Math.floor(read) - EPOCH_MS;
    if (Number.isNaN(now)) throw new IdError(`clock: must give unix ms, got ${shown(read)}`);
    if (now > ts) open(now);
    else if (seq < MAX.seq) seq++;
    else if (ts >= 0) open(ts + 1);
    else throw new IdError(`clock: must be unix ms from ${EPOCH_MS}, got ${shown(read)}`);
    return join(head, tail + seq);
  }

  return { node, next };
}

/** Appends the last five digits; the sequence may carry into the digits before them. */
function join(head: string, low: number): SnowflakeId {
  if (low >= LOW)
    return ((BigInt(head) + 1n).toString() + String(low - LOW).padStart(5, "0")) as SnowflakeId;
  if (head === "0") return String(low) as SnowflakeId;
  return (head + String(low).padStart(5, "0")) as SnowflakeId;
}
