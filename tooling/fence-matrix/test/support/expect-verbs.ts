import { expect } from "vitest";
import type { Tried } from "../../src/try-verbs.js";

/** Calls that put a job in, take one out, or steer the queue: the server refuses each one. */
const REFUSED = new RegExp(
  `^(${[
    "Queue\\.(add|addBulk|pause|resume|obliterate|retryJobs|promoteJobs|upsertJobScheduler)",
    "Queue\\.(set|remove)Global(Concurrency|RateLimit)",
    "Worker\\.getNextJob",
    "Job\\.(addJob|static create|static createBulk)",
    "JobScheduler\\.upsertJobScheduler",
    "Repeat\\.(addNextRepeatableJob|updateRepeatableJob)",
  ].join("|")})(:.*)?$`,
);

/** How many of these calls the line with the fewest has. */
const REFUSED_LEAST = 17;

/** It fails before it reaches the stamp: there is no such parent. */
const NO_PARENT = "Queue.add:parent";

/** Data of a job that a v1 client must never see. */
export const SECRET = "seen only by its own wire";

/** Calls that the server refuses were refused by it, for the type of `meta`. */
export function expectRefusals(tried: readonly Tried[]): void {
  const meant = tried.filter(({ name }) => REFUSED.test(name) && name !== NO_PARENT);
  expect(meant.length).toBeGreaterThanOrEqual(REFUSED_LEAST);
  const passed = meant.filter(
    ({ end, error = "" }) => end !== "threw" || !error.startsWith("WRONGTYPE"),
  );
  expect(passed.map(({ name, end, error }) => `${name} ${end} ${error}`)).toEqual([]);
  const [parent] = tried.filter(({ name }) => name === NO_PARENT);
  expect(parent).toMatchObject({ end: "threw", error: expect.stringMatching(/parent|WRONGTYPE/) });
  const [work] = tried.filter(({ name }) => name === "Worker.run");
  expect(work?.errors).toBeGreaterThan(0);
  expect(work?.messages.join()).toContain("WRONGTYPE");
}

/** No job reached a processor, a listener or a caller; `readers` may still show an old copy. */
export function expectNothingOut(tried: readonly Tried[], readers: readonly string[] = []): void {
  // `processJob` runs what its caller brings; the end of it is refused.
  const worked = tried.filter(({ name, worked }) => worked > 0 && name !== "Worker.processJob");
  expect(worked.map(({ name }) => name)).toEqual([]);
  expect(tried.filter(({ heard }) => heard > 0).map(({ name }) => name)).toEqual([]);
  const shown = tried.filter(({ value }) => value?.includes(SECRET)).map(({ name }) => name);
  expect(shown).toEqual(tried.map(({ name }) => name).filter((name) => readers.includes(name)));
  expect(tried.filter(({ end }) => end === "pending").map(({ name }) => name)).toEqual([]);
}
