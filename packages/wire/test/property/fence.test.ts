import fc from "fast-check";
import { expect, test } from "vitest";
import type { FenceDecision, FenceProbes } from "../../src/index.js";
import { decideFence, decideV1Guard, fenceError, STAMP_PREFIX, stampKey } from "../../src/index.js";

const VERSIONS = [
  "echomq:2.0.0",
  "echomq:2.9.0",
  "echomq:3.0.0",
  "bullmq:5.65.1",
  "echomq:migrating:r1:copy",
  "echomq:moved:r1:moving:orders",
  "echomq:moved:r1:done:orders (tail)",
];
const text = fc.oneof(fc.constantFrom(...VERSIONS), fc.string({ unit: "binary" }));
const holds = fc.oneof(
  fc.constant({ kind: "none" } as const),
  fc.record({ kind: fc.constant("string" as const), text }),
  fc.record({ kind: fc.constant("hash" as const), version: fc.option(text) }),
  fc.record({ kind: fc.constant("other" as const), type: fc.constantFrom("list", "set", "zset") }),
);
const v1 = fc.record({
  prefix: fc.constant("bull"),
  braced: fc.boolean(),
  metaKey: fc.constantFrom("bull:orders:meta", "{bull}:orders:meta", stampKey("orders")),
  meta: holds,
  bare: fc.subarray(["bull:orders:id", "bull:orders:wait", "bull:orders:stalled-check"]),
});
const probes: fc.Arbitrary<FenceProbes> = fc.record({
  queue: fc.constantFrom("orders", "{orders}"),
  reserveVersion: fc.option(text, { freq: 1 }),
  stamp: holds,
  v2Meta: fc.constantFrom("none" as const, "hash" as const, "other" as const),
  opened: fc.option(fc.string()),
  migration: fc.option(
    fc.record({ run: fc.string(), phase: fc.constantFrom("copy", "drain", "committed", "x\n") }),
  ),
  v1: fc.array(v1, { maxLength: 3 }),
});

function check(decision: FenceDecision): void {
  if (decision.action === "go") return;
  const error = fenceError(decision, "orders");
  expect(error).toMatchObject({ code: decision.code, probe: decision.probe });
  expect(error.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(error.message).toMatch(
    /: (npx -p @echomq\/migrate -p ioredis echomq-migrate|npm install|redis-cli) [^ ]/,
  );
}

test("both tables decide on everything and explain every refusal", () => {
  fc.assert(
    fc.property(probes, (p) => {
      check(decideFence(p));
      check(decideV1Guard(p));
    }),
    { numRuns: 2_000 },
  );
});

test("a v2 client goes on only with a stamp of its major or with nothing at all", () => {
  fc.assert(
    fc.property(probes, (p) => {
      const decision = decideFence(p);
      if (decision.action !== "go") return;
      if (p.stamp.kind === "string") {
        expect(p.stamp.text.startsWith(STAMP_PREFIX)).toBe(true);
        expect(decision.state).toBe("v2");
      } else {
        expect(p.stamp.kind).toBe("none");
        expect(p.v2Meta).toBe("none");
        expect(decision).toEqual({ action: "go", state: "empty", opened: false });
      }
    }),
    { numRuns: 2_000 },
  );
});

test("no keyspace lets a v1 and a v2 client go on together, unless it is empty of both", () => {
  fc.assert(
    fc.property(probes, (p) => {
      const [v2Side, v1Side] = [decideFence(p), decideV1Guard(p)];
      if (v2Side.action !== "go" || v1Side.action !== "go") return;
      expect(v2Side.state).toBe("empty");
      expect(p.v1.flatMap((probe) => (probe.meta.kind === "none" ? probe.bare : ["meta"]))).toEqual(
        [],
      );
    }),
    { numRuns: 2_000 },
  );
});

test("codes of one side never come from the other", () => {
  fc.assert(
    fc.property(probes, (p) => {
      const [v2Side, v1Side] = [decideFence(p), decideV1Guard(p)];
      if (v2Side.action === "refuse") expect(v2Side.code).not.toBe("V2_KEYSPACE");
      if (v1Side.action === "refuse") {
        expect(["V1_KEYSPACE", "V1_INTRUSION", "MAJOR_MISMATCH"]).not.toContain(v1Side.code);
      }
    }),
    { numRuns: 2_000 },
  );
});
