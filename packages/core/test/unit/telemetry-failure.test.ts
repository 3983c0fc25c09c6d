import { EchoMQError } from "@echomq/wire";
import { expect, test } from "vitest";
import { spanError } from "../../src/telemetry/failure.js";

const circular: Record<string, unknown> = {};
circular.self = circular;
const hostile = Object.defineProperties(
  {},
  {
    name: {
      get: () => {
        throw new Error("name");
      },
    },
    message: {
      get: () => {
        throw new Error("message");
      },
    },
    stack: {
      get: () => {
        throw new Error("stack");
      },
    },
  },
);

test.each([
  ["an error", new TypeError("bad"), "TypeError", "bad"],
  ["one of ours", new EchoMQError({ code: "EMQFULL", message: "full" }), "EMQFULL", "full"],
  ["null", null, "_OTHER", "the handler threw null"],
  ["text", "text", "_OTHER", "text"],
  ["a name that is a number", { name: 7, message: "m" }, "_OTHER", "m"],
  ["an endless name", { name: "n".repeat(1_000), message: "m" }, "n".repeat(128), "m"],
])("%s", (_what, thrown, type, message) => {
  expect(spanError(thrown)).toMatchObject({ type, message });
});

test.each([
  ["a circle", circular],
  ["throwing getters", hostile],
])("%s is told without calling it twice", (_what, thrown) => {
  const error = spanError(thrown);
  expect(error.type).toBe("_OTHER");
  expect(error.message.length).toBeGreaterThan(0);
  expect(error).not.toHaveProperty("stack");
});

test("a stack is bounded", () => {
  const error = Object.assign(new Error("x"), { stack: "s".repeat(1_000_000) });
  expect(spanError(error).stack).toHaveLength(16_384);
});
