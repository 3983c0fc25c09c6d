import { describe, expect, test } from "vitest";
import { parseTombstone, tombstone } from "../../src/index.js";

describe("tombstone", () => {
  test("says where the queue went, to programs and to people", () => {
    expect(tombstone({ run: "r1", state: "done", q: "orders" })).toBe(
      "echomq:moved:r1:done:orders (this queue moved, it lives on the EchoMQ 2 wire, keys emq:{orders}:*)",
    );
    expect(tombstone({ run: "r1", state: "moving", q: "{orders}" })).toBe(
      "echomq:moved:r1:moving:orders (this queue is moving, it will live on the EchoMQ 2 wire, keys emq:{orders}:*)",
    );
  });

  test("puts a name with a space between braces", () => {
    const text = tombstone({ run: "r1", state: "done", q: "my queue" });
    expect(text).toMatch(/^echomq:moved:r1:done:\{my queue\} \(/);
    expect(parseTombstone(text)).toEqual({ run: "r1", state: "done", q: "my queue" });
  });

  test.each([
    ["run", { run: "a b", state: "done", q: "orders" } as const],
    ["state", { run: "r1", state: "gone" as "done", q: "orders" }],
    ["state", { run: "r1", state: "__proto__" as "done", q: "orders" }],
    ["queue", { run: "r1", state: "done", q: "a:b" } as const],
  ])("refuses a wrong %s (%#)", (option, parts) => {
    expect(() => tombstone(parts)).toThrow(expect.objectContaining({ option }));
  });
});

describe("parseTombstone", () => {
  test.each([
    ["echomq:moved:r1:done:orders", { run: "r1", state: "done", q: "orders" }],
    ["echomq:moved:r1:moving:orders", { run: "r1", state: "moving", q: "orders" }],
    ["echomq:moved:r1:done:orders any tail: {x}", { run: "r1", state: "done", q: "orders" }],
    ["echomq:moved:r1:done:orders \n", { run: "r1", state: "done", q: "orders" }],
    ["echomq:moved:r1:done:{orders}", { run: "r1", state: "done", q: "orders" }],
  ])("reads %j", (text, parts) => {
    expect(parseTombstone(text)).toEqual(parts);
  });

  test.each([
    "",
    "echomq:moved:",
    "echomq:moved:r1",
    "echomq:moved:r1:done",
    "echomq:moved:r1:done:",
    "echomq:moved:r1:gone:orders",
    "echomq:moved:r_1:done:orders",
    "echomq:moved:r1:done:a:b",
    "echomq:moved:r1:done:emq",
    "echomq:moved:r1:done:{emq}",
    "echomq:moved:r1:done:{orders",
    "echomq:moved:r1:done:{orders}x",
    "echomq:moved:r1:done:orders\u0000",
    "echomq:2.0.0",
    "bullmq:5.65.1",
    `echomq:moved:${"r".repeat(1_000_000)}`,
  ])("reads nothing from %j", (text) => {
    expect(parseTombstone(text)).toBeNull();
  });
});
