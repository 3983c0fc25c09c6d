import { expect, test } from "vitest";
import { tableReport } from "../../src/report/table.js";
import type { Report } from "../../src/runner.js";

const report: Report = {
  engine: { name: "valkey", version: "8.0.1", redisVersion: "7.2.4", mode: "standalone" },
  driver: "ioredis",
  queue: "mine",
  scenarios: [
    { id: "a.one", title: "One", ok: true, detail: "seen" },
    { id: "b.two", title: "Two", ok: false, detail: "a longer sentence that tells what was seen" },
    { id: "c.three", title: "Three", ok: null, detail: "no right to MONITOR" },
  ],
};

test("without a terminal each row is one line", () => {
  expect(tableReport(report, { color: false, columns: undefined })).toBe(
    [
      "scenario  title  result   detail",
      "a.one     One    ok       seen",
      "b.two     Two    FAILED   a longer sentence that tells what was seen",
      "c.three   Three  refused  no right to MONITOR",
      "",
      "engine   valkey 8.0.1 (Redis 7.2.4), standalone",
      "driver   ioredis",
      "conformance: 3 scenarios, 1 ok, 1 failed, 1 refused",
      "",
    ].join("\n"),
  );
});

test("a terminal's width breaks long details", () => {
  const lines = tableReport(report, { color: false, columns: 58 }).split("\n");
  expect(lines.every((line) => line.length <= 58)).toBe(true);
  expect(lines).toContain(`${" ".repeat(26)}what was seen`);
});

test("in a narrow terminal the detail goes below its row", () => {
  const lines = tableReport(report, { color: false, columns: 40 }).split("\n");
  expect(lines).toContain("    no right to MONITOR");
});
