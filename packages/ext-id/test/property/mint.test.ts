import fc from "fast-check";
import { expect, test } from "vitest";
import { brand, createMint, decode, EPOCH_MS } from "../../src/index.js";

const node = fc.integer({ min: 0, max: 1023 });
const start = fc.integer({ min: 0, max: 2 ** 41 - 2 ** 30 });
const HOURS = 6 * 3_600_000;

/** Steps of a clock that stands still, ticks, jumps ahead and steps back, with ids minted between. */
const walk = fc.array(
  fc.record({
    step: fc.oneof(
      fc.constant(0),
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -HOURS, max: HOURS }),
    ),
    mint: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 4090, max: 4100 })),
  }),
  { minLength: 1, maxLength: 20 },
);

test("ids only grow, whatever the clock does", () => {
  fc.assert(
    fc.property(node, start, walk, (n, first, steps) => {
      let ms = first;
      const mint = createMint({ node: n, clock: () => EPOCH_MS + ms });
      let last = BigInt(mint.next());
      for (const { step, mint: count } of steps) {
        ms += step;
        for (let i = 0; i < count; i++) {
          const id = BigInt(mint.next());
          if (id <= last) throw new Error(`${id} after ${last}`);
          last = id;
        }
      }
      expect(decode(String(last)).node).toBe(n);
    }),
  );
});

test("byte order of branded ids is the order they were minted in", () => {
  fc.assert(
    fc.property(node, start, walk, (n, first, steps) => {
      let ms = first;
      const mint = createMint({ node: n, clock: () => EPOCH_MS + ms });
      const ids = [brand(mint.next())];
      for (const { step } of steps) {
        ms += step;
        ids.push(brand(mint.next()));
      }
      expect([...ids].sort()).toEqual(ids);
    }),
  );
});

test("an id of a clock that moves on carries that clock's time", () => {
  fc.assert(
    fc.property(node, fc.uniqueArray(start, { minLength: 1, maxLength: 30 }), (n, times) => {
      let ms = 0;
      const mint = createMint({ node: n, clock: () => EPOCH_MS + ms });
      for (ms of times.sort((a, b) => a - b)) {
        expect(decode(mint.next())).toEqual({ timestamp: EPOCH_MS + ms, ts: ms, node: n, seq: 0 });
      }
    }),
  );
});

test("two nodes never make the same id", () => {
  fc.assert(
    fc.property(fc.uniqueArray(node, { minLength: 2, maxLength: 2 }), start, (nodes, ms) => {
      const ids = nodes.flatMap((n) => {
        const mint = createMint({ node: n, clock: () => EPOCH_MS + ms });
        return Array.from({ length: 50 }, () => mint.next());
      });
      expect(new Set(ids).size).toBe(100);
    }),
  );
});
