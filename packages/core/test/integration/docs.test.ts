import { startServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventsExample } from "../docs/events.js";
import { lookingExample } from "../docs/looking.js";
import { codeOf, regionsOf } from "../support/docs.js";

async function url(): Promise<string> {
  const server = await startServer({ engine: "redis" });
  onTestFinished(() => server.stop());
  return server.url;
}

describe.each(["events", "looking"])("docs/%s.md", (page) => {
  test("shows the code that runs here, and no other", () => {
    expect(codeOf(page)).toEqual(regionsOf(page));
  });
});

test("the code of docs/events.md does what it says", async () => {
  const notes = await eventsExample(await url());
  expect(notes.some((note) => /^\d+ gave \{"done":"pack"\} at \d+-\d+:\d+$/.test(note))).toBe(true);
  expect(notes).toContain('[{"done":"pack"},{"done":"pack"}]');
  expect(notes.at(-1)).toBe("order 7 is on its way");
});

test("the code of docs/looking.md does what it says", async () => {
  expect(await lookingExample(await url())).toMatchObject({
    next: 1,
    failed: 0,
    some: 0,
    state: "waiting",
    counts: { waiting: 1, prioritized: 1, completed: 0 },
    open: 2,
    urgent: { 1: 1, 2: 0, 3: 0 },
    logs: [],
    count: 0,
    text: expect.stringContaining('region="eu"'),
    mended: { ok: true, findings: [] },
  });
});
