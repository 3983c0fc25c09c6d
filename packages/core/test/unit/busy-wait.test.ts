import { availableParallelism } from "node:os";
import { describe, expect, test } from "vitest";
import { BusyWait } from "../../src/connection/busy-wait.js";

/** Where there is one core the server may need it. */
const CORES = availableParallelism() > 1;

async function asleep(wait: BusyWait): Promise<void> {
  const until = performance.now() + 5_000;
  while (wait.awake && performance.now() < until) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("waiting awake", () => {
  test("begins with a call and ends with its answer", async () => {
    const wait = new BusyWait(true);
    expect(wait.awake).toBe(false);
    const sent = wait.sent(true);
    expect(wait.awake).toBe(CORES);
    wait.answered(sent);
    await asleep(wait);
    expect(wait.awake).toBe(false);
  });

  test("ends by itself where no answer comes, and begins again with the next call", async () => {
    const wait = new BusyWait(true);
    for (let n = 0; n < 3; n += 1) {
      wait.sent(true);
      expect(wait.awake).toBe(CORES);
      await asleep(wait);
      expect(wait.awake).toBe(false);
    }
  });

  test("gives up where answers take long, and takes it up again where they come soon", () => {
    const wait = new BusyWait(true);
    const asked = (ms: number): boolean => {
      const before = wait.awake;
      wait.answered(wait.sent(true) - ms);
      return before;
    };
    for (let n = 0; n < 100; n += 1) asked(5);
    expect(wait.worth).toBe(false);
    for (let n = 0; n < 30; n += 1) asked(0.05);
    expect(wait.worth).toBe(CORES);
  });

  test("goes on where every other answer takes long", () => {
    const wait = new BusyWait(true);
    for (let n = 0; n < 200; n += 1) wait.answered(wait.sent(true) - (n % 2 === 0 ? 0.15 : 5));
    expect(wait.worth).toBe(CORES);
  });

  test("one long pause changes nothing", () => {
    const wait = new BusyWait(true);
    for (let n = 0; n < 30; n += 1) wait.answered(wait.sent(true) - 0.05);
    wait.answered(wait.sent(true) - 5_000);
    expect(wait.worth).toBe(CORES);
  });

  test("not for somebody who has nothing more to send", () => {
    const wait = new BusyWait(true);
    wait.sent(false);
    expect(wait.awake).toBe(false);
  });

  test("never where it is turned off", () => {
    const wait = new BusyWait(false);
    wait.sent(true);
    expect(wait.awake).toBe(false);
    expect(wait.worth).toBe(false);
  });
});
