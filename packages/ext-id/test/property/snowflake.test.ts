import fc from "fast-check";
import { expect, test } from "vitest";
import { brand, decode, encode, fromBase62, toBase62, unbrand } from "../../src/index.js";

const number = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const parts = fc.record({
  ts: fc.integer({ min: 0, max: 2 ** 41 - 1 }),
  node: fc.integer({ min: 0, max: 1023 }),
  seq: fc.integer({ min: 0, max: 4095 }),
});
const namespace = fc.stringMatching(/^[A-Z]{3}$/);

test("encode undoes decode over the whole range", () => {
  fc.assert(
    fc.property(number, (n) => {
      expect(encode(decode(String(n)))).toBe(String(n));
    }),
  );
});

test("decode undoes encode for all parts", () => {
  fc.assert(
    fc.property(parts, (p) => {
      expect(decode(encode(p))).toMatchObject(p);
    }),
  );
});

test("base62 is 11 characters and comes back", () => {
  fc.assert(
    fc.property(number, (n) => {
      const text = toBase62(String(n));
      expect(text).toMatch(/^[0-9A-Za-z]{11}$/);
      expect(fromBase62(text)).toBe(String(n));
    }),
  );
});

test("a brand comes off as it went on", () => {
  fc.assert(
    fc.property(number, namespace, (n, name) => {
      expect(unbrand(brand(String(n), name))).toEqual({ id: String(n), namespace: name });
    }),
  );
});

test("byte order of branded ids is the order of ids", () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [x, y] = [brand(String(a)), brand(String(b))];
      expect(x < y).toBe(a < b);
      expect(x === y).toBe(a === b);
    }),
  );
});

test("byte order holds between neighbours", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 2n }), (n) => {
      expect(toBase62(String(n)) < toBase62(String(n + 1n))).toBe(true);
    }),
  );
});

test("any text either reads as an id that gives the text back, or is refused with code ID", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[0-9A-Za-z]{11}$/)),
      (text) => {
        try {
          expect(toBase62(fromBase62(text))).toBe(text);
        } catch (error) {
          expect(error).toMatchObject({ code: "ID" });
        }
      },
    ),
  );
});
