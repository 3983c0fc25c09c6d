import { describe, expect, test } from "vitest";
import { PATH } from "../support/path/path.js";
import { NAMES, type Refusal, refusalsOf } from "../support/path/recorder.js";

/** Titles of the cases that meet something. */
const casesOf = (meets: (one: (typeof PATH)[number]) => boolean): string[] =>
  PATH.filter(meets).map(({ title }) => title);

// The cases run in each mode, on each server and driver, and fail where they do not meet what they say.
describe("the core path", () => {
  const special = (title: string): boolean => title.startsWith("every script");

  test.each(NAMES)("meets %s in a case of its own verbs", (name) => {
    const cases = casesOf(({ title, scripts }) => !special(title) && scripts.includes(name));
    expect(cases).not.toEqual([]);
  });

  test.each(NAMES)("meets every refusal of %s", (name) => {
    const all: Refusal[] = [...refusalsOf(name), `${name} EMQFENCE`, `${name} EMQARG`];
    const missing = all.filter(
      (refusal) => casesOf(({ refusals = [] }) => refusals.includes(refusal)).length === 0,
    );
    expect(missing).toEqual([]);
  });

  test("names only what exists, and each case by one title", () => {
    const known = new Set(
      NAMES.flatMap((name) => [...refusalsOf(name), `${name} EMQFENCE`, `${name} EMQARG`]),
    );
    for (const { scripts, refusals = [] } of PATH) {
      expect(scripts.filter((name) => !NAMES.includes(name))).toEqual([]);
      expect(refusals.filter((refusal) => !known.has(refusal))).toEqual([]);
    }
    expect(new Set(PATH.map(({ title }) => title)).size).toBe(PATH.length);
  });
});
