import fc from "fast-check";
import { expect, test } from "vitest";
import { isEchoMQError, jobId, queueName, utf8Length, wrap } from "../../src/index.js";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
  fc.stringMatching(/^[{} a:]{0,6}$/),
);

/** The outcome of a check: its value, or null for a refusal, which must be a ValidationError. */
function outcome(check: (value: unknown) => string, value: unknown): string | null {
  try {
    return check(value);
  } catch (error) {
    if (!isEchoMQError(error, "VALIDATION")) throw error;
    return null;
  }
}

/** The grammar of the wire, written a second time. */
function grammar(text: string, maxBytes: number): boolean {
  const bytes = Buffer.byteLength(text);
  return (
    bytes >= 1 &&
    bytes <= maxBytes &&
    !/\p{Cc}/u.test(text) &&
    Buffer.from(text).toString() === text
  );
}

test("a name is taken exactly when the grammar allows it", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const name = /^\{[\s\S]*\}$/.test(text) ? text.slice(1, -1) : text;
      const fits = grammar(name, 128) && !/[{}:]|^ | $/.test(name) && name !== "emq";
      expect(outcome(queueName, text)).toBe(fits ? name : null);
    }),
    { numRuns: 2_000 },
  );
});

test("an id is taken exactly when the grammar allows it, and unchanged", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(outcome(jobId, text)).toBe(grammar(text, 512) ? text : null);
    }),
    { numRuns: 2_000 },
  );
});

test("any other value is refused with a ValidationError", () => {
  fc.assert(
    fc.property(
      fc.anything().filter((value) => typeof value !== "string"),
      (value) => {
        expect(outcome(queueName, value)).toBeNull();
        expect(outcome(jobId, value)).toBeNull();
      },
    ),
  );
});

test("wrap is idempotent", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const once = outcome((value) => wrap(value as string), text);
      if (once !== null) expect(wrap(once)).toBe(once);
    }),
  );
});

test("utf8Length agrees with the encoder", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }),
  );
});
