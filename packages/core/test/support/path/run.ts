import type { RedisDriver } from "@echomq/scripts";
import { expect, onTestFinished, test } from "vitest";
import { Bench } from "../bench.js";
import type { PathCase } from "./case.js";
import { Recorder } from "./recorder.js";

/** Where one case is to run. */
export interface Opened {
  /** A server that holds the queue, for the test's own client. */
  readonly url: string;
  readonly driver: RedisDriver;
  /** Name of the queue, where it matters on which server it lies. */
  readonly name?: string;
}

/** Runs cases one by one, each on a queue of its own; each must have met all that it says. */
export function runPath(cases: readonly PathCase[], open: () => Promise<Opened>): void {
  test.each(cases.map((one) => [one.title, one] as const))("%s", async (_title, one) => {
    const { url, driver, name } = await open();
    onTestFinished(() => driver.close());
    const seen = new Recorder();
    await one.run({ bench: Bench.on(url, seen.watch(driver), name), driver, seen });
    expect([...seen.scripts]).toEqual(expect.arrayContaining([...one.scripts]));
    expect([...seen.refusals]).toEqual(expect.arrayContaining([...(one.refusals ?? [])]));
  });
}
