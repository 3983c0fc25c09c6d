import { expect, test } from "vitest";
import * as wire from "../../src/index.js";

test("exports by name what the other packages build on", () => {
  expect(Object.keys(wire).sort()).toMatchInlineSnapshot(`
    [
      "ConfigError",
      "ECHOMQ_ERROR",
      "EVENT_CODES",
      "EchoMQError",
      "FenceError",
      "KINDS",
      "KIND_HOLDS",
      "LIMITS",
      "RESERVE",
      "STAMP_PREFIX",
      "ServerError",
      "UNITS",
      "ValidationError",
      "WIRE_CODES",
      "WIRE_MAJOR",
      "WIRE_VERSION",
      "WireError",
      "buildKey",
      "decideFence",
      "decideV1Guard",
      "errorFromReply",
      "fenceError",
      "isEchoMQError",
      "jobId",
      "kindKey",
      "migratingStamp",
      "parseKey",
      "parseTombstone",
      "parseVersion",
      "phaseUnderWay",
      "printable",
      "queueKeys",
      "queueName",
      "reserveKey",
      "stampKey",
      "tombstone",
      "unitKey",
      "utf8Length",
      "wrap",
    ]
  `);
});

test("event codes are one letter each and name each event once", () => {
  const entries = Object.entries(wire.EVENT_CODES);
  for (const [code] of entries) expect(code).toMatch(/^[a-z]$/);
  expect(new Set(entries.map(([, name]) => name)).size).toBe(entries.length);
});

test("a score of the largest priority keeps its order below 2^53", () => {
  const { priorityMax, priorityStep } = wire.LIMITS;
  expect(priorityMax * priorityStep + (priorityStep - 1)).toBeLessThanOrEqual(
    Number.MAX_SAFE_INTEGER,
  );
  expect((priorityMax + 1) * priorityStep).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
});
