import { expect, test } from "vitest";
import { unlessAborted, within } from "../../src/connection/within.js";

test("true when the work settles, either way, and false when it does not", async () => {
  expect(await within(Promise.resolve(), 10_000)).toBe(true);
  expect(await within(Promise.reject(new Error("x")), 10_000)).toBe(true);
  expect(await within(new Promise(() => undefined), 1)).toBe(false);
});

test("what is aborted is waited for no longer, before or meanwhile", async () => {
  const never = new Promise<number>(() => undefined);
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(5), signal)).toBe(5);
  await expect(unlessAborted(Promise.reject(new Error("x")), signal)).rejects.toThrow("x");
  const end = new AbortController();
  const waiting = unlessAborted(never, end.signal);
  end.abort();
  expect(await waiting).toBe(undefined);
  expect(await unlessAborted(never, end.signal)).toBe(undefined);
});
