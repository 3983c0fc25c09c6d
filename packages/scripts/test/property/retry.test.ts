import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atMost, pauseFor, retryDelay } from "../../src/dispatch/retry.js";

describe("retryDelay", () => {
  test("doubles from 50 ms to at most 1 s, and at least half of it is waited", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (attempt) => {
        const full = Math.min(50 * 2 ** Math.min(attempt - 1, 30), 1_000);
        const wait = retryDelay(attempt);
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });

  test("clients spread out", () => {
    expect(new Set(Array.from({ length: 50 }, () => retryDelay(9))).size).toBeGreaterThan(10);
  });
});

describe("waits", () => {
  test("end with their signal, and at once where it was aborted before", async () => {
    const abort = new AbortController();
    const waits = [pauseFor(3_600_000, abort.signal), atMost(never(), 3_600_000, abort.signal)];
    abort.abort();
    await Promise.all(waits);
    await pauseFor(3_600_000, abort.signal);
    await atMost(never(), 3_600_000, abort.signal);
  });

  test("atMost ends with its work or its time, whichever is first", async () => {
    await atMost(Promise.resolve(), 3_600_000);
    await atMost(never(), 1);
  });
});

function never(): Promise<void> {
  return new Promise(() => undefined);
}
