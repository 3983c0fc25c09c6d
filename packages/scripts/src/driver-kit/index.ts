import { closeCases } from "./cases/close.js";
import { errorCases } from "./cases/errors.js";
import { laneCases } from "./cases/lanes.js";
import { lossCases } from "./cases/loss.js";
import { pipelineCases } from "./cases/pipelines.js";
import { replyCases } from "./cases/replies.js";
import { runCase } from "./run.js";
import type { DriverFactory, KitCase } from "./types.js";

export { runCase } from "./run.js";
export type { DriverFactory, KitCase, KitContext, Outage } from "./types.js";

/** Every case of the kit, in the order a new driver best meets them. */
export const KIT_CASES: readonly KitCase[] = [
  ...replyCases,
  ...errorCases,
  ...pipelineCases,
  ...laneCases,
  ...lossCases,
  ...closeCases,
];

/** How the kit meets a test runner: `test` of vitest, jest, mocha or `node:test` fits. */
export interface KitRunner {
  test(name: string, run: () => Promise<void>): unknown;
}

/** Registers every case that `factory` has the hooks for as one test each. */
export function runDriverKit(factory: DriverFactory, { test }: KitRunner): void {
  for (const kitCase of KIT_CASES) {
    if (kitCase.needs !== undefined && factory[kitCase.needs] === undefined) continue;
    test(`${kitCase.id}: ${kitCase.title}`, () => runCase(kitCase, factory));
  }
}
