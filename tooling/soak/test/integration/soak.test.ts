import { expect, test } from "vitest";
import { soak } from "../../src/soak.js";

/** One round of storm and calm. Its seed also chooses the engine, so both come to their turn. */
const SMALL = { minutes: 0.15, kills: 3, workers: 2, producers: 1, rate: 30 } as const;

test("a small soak finds nothing", { timeout: 180_000 }, async () => {
  const seed = Number(process.env.ECHOMQ_SOAK_SEED ?? Date.now() % 2 ** 32);
  const engine = seed % 2 === 0 ? "redis" : "valkey";
  const lines: string[] = [];
  const options = { ...SMALL, seed, engine, driver: undefined, keep: undefined } as const;
  const outcome = await soak(options, (line) => lines.push(line));
  expect(outcome.findings, lines.join("\n")).toEqual([]);
  expect(outcome.faults).toBeGreaterThanOrEqual(7);
  expect(outcome.runs).toBeGreaterThan(50);
});
