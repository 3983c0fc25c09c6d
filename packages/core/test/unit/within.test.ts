import { expect, test } from "vitest";
import { within } from "../../src/connection/within.js";

test("true when the work settles, either way, and false when it does not", async () => {
  expect(await within(Promise.resolve(), 10_000)).toBe(true);
  expect(await within(Promise.reject(new Error("x")), 10_000)).toBe(true);
  expect(await within(new Promise(() => undefined), 1)).toBe(false);
});
