import fc from "fast-check";
import { expect, test } from "vitest";
import type { KeyParts, Kind, Unit } from "../../src/index.js";
import {
  buildKey,
  jobId,
  KINDS,
  parseKey,
  queueName,
  RESERVE,
  UNITS,
  wrap,
} from "../../src/index.js";

function takes(check: (text: string) => string): (text: string) => boolean {
  return (text) => {
    try {
      return check(text) === text;
    } catch {
      return false;
    }
  };
}

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary-ascii" }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
);
const queue = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
    fc.stringMatching(/^[a-z ,.]{1,30}$/),
  )
  .filter(takes(queueName));
const id = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
    fc.stringMatching(/^[a-z:{}0-9]{1,30}$/),
    fc.constantFrom("meta", "wait", "__proto__", "a:b:c", "007", "}:meta", "v2:meta"),
  )
  .filter(takes(jobId));
const unit = fc.constantFrom(...(Object.keys(UNITS) as Unit[]));
const kind = fc.constantFrom(...(Object.keys(KINDS) as Kind[]));

const queueParts: fc.Arbitrary<KeyParts> = fc.oneof(
  fc.record({ type: fc.constant("stamp" as const), q: queue }),
  fc.record({ type: fc.constant("unit" as const), q: queue, unit }),
  fc.record({ type: fc.constant("kind" as const), q: queue, kind, id }),
);
const reserveParts: fc.Arbitrary<KeyParts> = fc.oneof(
  fc
    .constantFrom(...RESERVE.filter((name) => name !== "migration"))
    .map((name) => ({ type: "reserve" as const, name })),
  queue.map((q) => ({ type: "reserve" as const, name: "migration" as const, q })),
);

/** Texts that look like keys: real ones with a piece cut out, doubled or replaced. */
const nearKey = fc
  .tuple(
    fc.oneof(queueParts, reserveParts).map(buildKey),
    fc.nat(80),
    fc.nat(5),
    fc.oneof(anyText, fc.constantFrom(":", "{", "}", "")),
  )
  .map(([key, at, cut, put]) => key.slice(0, at) + put + key.slice(at + cut));

test("parse undoes build for every valid part", () => {
  fc.assert(
    fc.property(fc.oneof(queueParts, reserveParts), (parts) => {
      expect(parseKey(buildKey(parts))).toEqual(parts);
    }),
  );
});

test("parse never throws, and build undoes it whenever a key is classified", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, nearKey), (key) => {
      const parts = parseKey(key);
      expect(parts.type === "unclassified" ? parts.key : buildKey(parts)).toBe(key);
    }),
    { numRuns: 2_000 },
  );
});

test("different parts never share a key", () => {
  const parts = fc.oneof(queueParts, reserveParts);
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      fc.pre(JSON.stringify(a) !== JSON.stringify(b));
      expect(buildKey(a)).not.toBe(buildKey(b));
    }),
  );
});

test("a braced name builds the same key as a bare one", () => {
  fc.assert(
    fc.property(queueParts, (parts) => {
      fc.pre(parts.type !== "reserve");
      const braced = { ...parts, q: wrap(parts.q as string) } as KeyParts;
      expect(buildKey(braced)).toBe(buildKey(parts));
    }),
  );
});

/** The hash tag as a cluster reads it: between the first brace and the next closing one. */
function hashTag(key: string): string {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
}

test("a queue's keys share its name as hash tag; the reserve's share another", () => {
  fc.assert(
    fc.property(queueParts, reserveParts, (ours, reserve) => {
      const key = buildKey(ours);
      expect(hashTag(key)).toBe(ours.q);
      expect(key.startsWith("emq:{")).toBe(true);
      expect(hashTag(buildKey(reserve))).toBe("emq");
      expect(buildKey(reserve).startsWith("{emq}:")).toBe(true);
      expect(ours.q).not.toBe("emq");
    }),
  );
});
