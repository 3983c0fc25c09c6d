import { describe, expect, test } from "vitest";
import {
  migratingStamp,
  parseVersion,
  STAMP_PREFIX,
  WIRE_MAJOR,
  WIRE_VERSION,
} from "../../src/index.js";

describe("parseVersion", () => {
  test("reads the stamp this code writes", () => {
    expect(parseVersion(WIRE_VERSION)).toEqual({
      family: "echomq",
      major: WIRE_MAJOR,
      minor: 0,
      patch: 0,
    });
    expect(WIRE_VERSION.startsWith(STAMP_PREFIX)).toBe(true);
  });

  test.each([
    ["echomq:2.13.4", { family: "echomq", major: 2, minor: 13, patch: 4 }],
    ["echomq:3.0.0", { family: "echomq", major: 3, minor: 0, patch: 0 }],
    ["echomq:22.0.0", { family: "echomq", major: 22, minor: 0, patch: 0 }],
    ["echomq:migrating:r-1:copy", { family: "migrating", run: "r-1", phase: "copy" }],
    ["echomq:migrating:r1:rolling-back", { family: "migrating", run: "r1", phase: "rolling-back" }],
    ["echomq:migrating:r1", { family: "migrating", run: "r1", phase: "" }],
    ["bullmq:5.65.1", { family: "bullmq", version: "5.65.1" }],
    ["bullmq:6.0.0-beta.1", { family: "bullmq", version: "6.0.0-beta.1" }],
    ["echomq:moved:r1:done:orders", { family: "tombstone", run: "r1", state: "done", q: "orders" }],
  ])("reads %s", (text, version) => {
    expect(parseVersion(text)).toEqual(version);
  });

  test.each([
    "",
    "2.0.0",
    "echomq",
    "echomq:",
    "echomq:2",
    "echomq:2.0",
    "echomq:2.0.0.0",
    "echomq:2.0.x",
    "echomq:02.0.0",
    "echomq:2.0.0-beta",
    "echomq:2.0.0\n",
    " echomq:2.0.0",
    "ECHOMQ:2.0.0",
    "echomq:2.0.9999999999",
    "echomq:migrating:",
    "echomq:migrating:r 1:copy",
    "echomq:migrating:r1:",
    "echomq:migrating:r1:Copy",
    "echomq:migrating:r1:copy:more",
    `echomq:migrating:${"r".repeat(65)}:copy`,
    "bullmq:",
    "bullmq:5 6",
    "bullmq-pro:7.1.0",
    "x".repeat(1_000_000),
  ])("calls %j foreign", (text) => {
    expect(parseVersion(text)).toEqual({ family: "foreign", text });
  });
});

describe("migratingStamp", () => {
  test("builds what parseVersion reads", () => {
    expect(migratingStamp("r-1", "fence")).toBe("echomq:migrating:r-1:fence");
  });

  test.each([
    ["run", "", "copy"],
    ["run", "a:b", "copy"],
    ["run", "r".repeat(65), "copy"],
    ["run", undefined as unknown as string, "copy"],
    ["phase", "r1", ""],
    ["phase", "r1", "a:b"],
    ["phase", "r1", "Copy"],
    ["phase", "r1", "p".repeat(33)],
  ])("refuses a wrong %s (%#)", (option, run, phase) => {
    expect(() => migratingStamp(run, phase)).toThrow(expect.objectContaining({ option }));
  });
});
