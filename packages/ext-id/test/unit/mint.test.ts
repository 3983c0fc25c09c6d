import { describe, expect, test } from "vitest";
import { createMint, decode, EPOCH_MS, IdError } from "../../src/index.js";

/** A mint whose clock the test sets, in ms since the epoch of ids. */
function handMint(node = 0) {
  const hand = { ms: 0 };
  return { hand, mint: createMint({ node, clock: () => EPOCH_MS + hand.ms }) };
}

describe("createMint", () => {
  test("gives the known id at its millisecond", () => {
    const { hand, mint } = handMint();
    hand.ms = 65459497641;
    expect(mint.next()).toBe("274557032793636864");
    expect(mint.next()).toBe("274557032793636865");
  });

  test("carries node and time, and counts within a millisecond", () => {
    const { hand, mint } = handMint(1023);
    hand.ms = 5;
    mint.next();
    expect(decode(mint.next())).toEqual({ timestamp: EPOCH_MS + 5, ts: 5, node: 1023, seq: 1 });
    expect(mint.node).toBe(1023);
  });

  test("starts the sequence again with each millisecond", () => {
    const { hand, mint } = handMint();
    mint.next();
    mint.next();
    hand.ms = 1;
    expect(decode(mint.next())).toMatchObject({ ts: 1, seq: 0 });
  });

  test("writes the very first ids without leading zeros", () => {
    const { mint } = handMint();
    expect([mint.next(), mint.next()]).toEqual(["0", "1"]);
  });

  test("drops the fraction of a millisecond", () => {
    const mint = createMint({ node: 0, clock: () => EPOCH_MS + 7.9 });
    expect(decode(mint.next()).ts).toBe(7);
  });

  test("borrows the next millisecond when 4096 ids are used up", () => {
    const { hand, mint } = handMint(3);
    hand.ms = 100;
    const ids = Array.from({ length: 4097 }, () => mint.next());
    expect(decode(ids[4095] ?? "")).toMatchObject({ ts: 100, seq: 4095 });
    expect(decode(ids[4096] ?? "")).toMatchObject({ ts: 101, seq: 0, node: 3 });
    hand.ms = 101; // the borrowed millisecond arrives: go on inside it
    expect(decode(mint.next())).toMatchObject({ ts: 101, seq: 1 });
  });

  test("agrees with encode for every sequence of a millisecond", () => {
    const { hand, mint } = handMint(511);
    hand.ms = 65459497641;
    for (let seq = 0; seq < 4096; seq++) {
      expect(decode(mint.next())).toMatchObject({ ts: 65459497641, node: 511, seq });
    }
  });

  test("goes on from the last id when the clock steps back by hours", () => {
    const { hand, mint } = handMint();
    hand.ms = 4 * 3_600_000;
    mint.next();
    hand.ms = 0;
    expect(decode(mint.next())).toMatchObject({ ts: 4 * 3_600_000, seq: 1 });
  });

  test("goes on when the clock steps back before 2024 during a run", () => {
    const { hand, mint } = handMint();
    mint.next();
    hand.ms = -EPOCH_MS;
    expect(mint.next()).toBe("1");
  });

  test("uses the process clock by default", () => {
    const before = Date.now();
    const { timestamp } = decode(createMint({ node: 1 }).next());
    expect(timestamp).toBeGreaterThanOrEqual(before);
  });

  test.each([-1, 1024, 1.5, Number.NaN, Infinity, "1", null, undefined])(
    "refuses node %s",
    (node) => {
      expect(() => createMint({ node: node as number })).toThrow(IdError);
      expect(() => createMint({ node: node as number })).toThrow(/node: must be a whole number/);
    },
  );

  test.each([
    ["NaN", Number.NaN, /must give unix ms, got NaN/],
    ["before 2024", EPOCH_MS - 1, /must be unix ms from 1704067200000/],
    ["microseconds", 1_770_000_000_000_000, /must be unix ms up to/],
    ["Infinity", Infinity, /must be unix ms up to/],
  ])("refuses a clock that gives %s", (_, ms, message) => {
    const mint = createMint({ node: 0, clock: () => ms });
    expect(() => mint.next()).toThrow(message);
    expect(() => mint.next()).toThrow(IdError);
  });

  test("mints the last id of 63 bits and then stops", () => {
    const { hand, mint } = handMint(1023);
    hand.ms = 2 ** 41 - 1;
    const ids = Array.from({ length: 4096 }, () => mint.next());
    expect(ids.at(-1)).toBe((2n ** 63n - 1n).toString());
    expect(() => mint.next()).toThrow(IdError);
  });

  test("works again after a clock that was out of range", () => {
    const { hand, mint } = handMint();
    hand.ms = 2 ** 41;
    expect(() => mint.next()).toThrow(IdError);
    hand.ms = 9;
    expect(decode(mint.next())).toMatchObject({ ts: 9, seq: 0 });
  });
});
