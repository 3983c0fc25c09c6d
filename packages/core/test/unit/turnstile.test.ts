import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Turnstile } from "../../src/connection/turnstile.js";

const through = async (turnstile: Turnstile): Promise<void> => turnstile.pass();

describe("a turnstile", () => {
  test("lets one through in each turn of the event loop, in order", async () => {
    const turnstile = new Turnstile();
    const seen: string[] = [];
    const turn = (name: string) => through(turnstile).then(() => seen.push(name));
    const all = [turn("a"), turn("b"), turn("c")];
    await all[0];
    // Whatever the first brings about in this turn comes before the second.
    for (let n = 0; n < 50; n += 1) await Promise.resolve();
    seen.push("what follows a");
    await Promise.all(all);
    expect(seen).toEqual(["a", "what follows a", "b", "c"]);
  });

  test("does not hold up whoever comes in a later turn", async () => {
    const turnstile = new Turnstile();
    await turnstile.pass();
    await new Promise((resolve) => setImmediate(resolve));
    expect(turnstile.pass()).toBeUndefined();
  });

  test("goes on while the timers of a test stand still", async () => {
    const turnstile = new Turnstile();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await Promise.all([turnstile.pass(), turnstile.pass(), turnstile.pass()]);
  });
});
