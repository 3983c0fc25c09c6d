import fc from "fast-check";
import { expect, test } from "vitest";
import {
  migratingStamp,
  parseTombstone,
  parseVersion,
  queueName,
  tombstone,
} from "../../src/index.js";

const number = fc.nat(999_999_999);
const run = fc.stringMatching(/^[0-9A-Za-z-]{1,64}$/);
const phase = fc.stringMatching(/^[a-z][a-z-]{0,31}$/);
const state = fc.constantFrom("moving" as const, "done" as const);
const queue = fc
  .oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[a-z( ]{1,20}$/))
  .filter((text) => {
    try {
      return queueName(text) === text;
    } catch {
      return false;
    }
  });
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .tuple(
      fc.constantFrom("echomq:", "bullmq:", "echomq:migrating:", "echomq:moved:"),
      fc.string({ unit: "binary" }),
    )
    .map((two) => two.join("")),
);

test("a version comes back as it was written", () => {
  fc.assert(
    fc.property(number, number, number, (major, minor, patch) => {
      expect(parseVersion(`echomq:${major}.${minor}.${patch}`)).toEqual({
        family: "echomq",
        major,
        minor,
        patch,
      });
    }),
  );
});

test("a migrating stamp comes back as it was written", () => {
  fc.assert(
    fc.property(run, phase, (r, p) => {
      expect(parseVersion(migratingStamp(r, p))).toEqual({ family: "migrating", run: r, phase: p });
    }),
  );
});

test("a tombstone comes back as it was written", () => {
  fc.assert(
    fc.property(run, state, queue, (r, s, q) => {
      const parts = { run: r, state: s, q };
      expect(parseTombstone(tombstone(parts))).toEqual(parts);
      expect(parseVersion(tombstone(parts))).toEqual({ family: "tombstone", ...parts });
    }),
  );
});

test("any text has a family, and a foreign one is kept unchanged", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const version = parseVersion(text);
      if (version.family === "foreign") expect(version.text).toBe(text);
      else expect(text).toMatch(/^(echomq|bullmq):/);
    }),
  );
});
