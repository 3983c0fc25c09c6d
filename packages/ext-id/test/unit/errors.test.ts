import { expect, test } from "vitest";
import { decode, IdError } from "../../src/index.js";

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("an IdError has a code, a name and the brand of every EchoMQ error", () => {
  const error = thrown(() => decode("x"));
  expect(error).toBeInstanceOf(IdError);
  expect(error).toMatchObject({ name: "IdError", code: "ID", transient: false });
  expect((error as Record<symbol, unknown>)[Symbol.for("echomq.error")]).toBe(true);
});

test("a message shows hostile text escaped and cut", () => {
  const error = thrown(() => decode(`a\nb${"c".repeat(1000)}`)) as IdError;
  expect(error.message).not.toContain("\n");
  expect(error.message.length).toBeLessThan(140);
});
