import { startServer } from "@echomq/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { addingExample } from "../docs/adding.js";
import { eventsExample } from "../docs/events.js";
import { failingExample } from "../docs/failing.js";
import { limitsExample } from "../docs/limits.js";
import { lookingExample } from "../docs/looking.js";
import { migratingExample } from "../docs/migrating.js";
import { mails as bullMails } from "../docs/migrating-before.js";
import { telemetryExample } from "../docs/telemetry.js";
import { testingExample } from "../docs/testing.js";
import { typesExample } from "../docs/types.js";
import { workingExample } from "../docs/working.js";
import { codeOf, regionsOf } from "../support/docs.js";
import { globalSdk } from "../support/telemetry.js";

async function url(): Promise<string> {
  const server = await startServer({ engine: "redis" });
  onTestFinished(() => server.stop());
  return server.url;
}

describe.each([
  "adding",
  "events",
  "failing",
  "looking",
  "limits",
  "telemetry",
  "testing",
  "types",
  "working",
])("docs/%s.md", (page) => {
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

test("the code of docs/adding.md does what it says", async () => {
  expect(await addingExample(await url())).toEqual({
    added: 3,
    same: true,
    holder: "string",
    freed: 1,
    stored: { to: "ann" },
    refused: 'data: does not fit the schema of "mail": to: must be a string',
    plain: [1],
  });
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

test("the code of docs/failing.md does what it says", async () => {
  expect(await failingExample(await url())).toEqual({
    back: 2,
    waits: 60_000,
    retried: 0,
    promoted: 0,
    state: "waiting",
    removed: 1,
    old: [],
    drained: 0,
    left: 0,
  });
});

test("the code of docs/limits.md does what it says", async () => {
  expect(await limitsExample(await url())).toEqual({
    set: [20, { max: 100, duration: 60_000 }],
    lifted: [null, null],
    sent: 200,
    held: true,
  });
});

test("the code of docs/types.md does what it says", async () => {
  const { id, ...seen } = await typesExample(await url());
  expect(seen).toMatchObject({ failed: 0, welcomed: "mail", left: true });
  expect(seen.error).toBe(
    `Job.promote: job "${id}" of queue "mails": EMQSTATE the job is not delayed; ` +
      "getState tells where it stands now",
  );
});

test("the code of docs/working.md does what it says", async () => {
  expect(await workingExample(await url())).toEqual({
    attempts: 1,
    logs: ["at charge", "at ship"],
    why: "cancelled: the customer changed their mind",
    resized: { width: 320 },
    chores: 1,
  });
});

test("the code of docs/telemetry.md does what it says", async () => {
  const sdk = globalSdk();
  expect(await telemetryExample(await url())).toEqual({
    sent: "sent",
    none: undefined,
    counts: { "echomq.jobs.added": 2 },
  });
  const spans = sdk.spans();
  const add = spans.find(({ name }) => name === "add mails");
  const run = spans.find(({ name }) => name === "process mails");
  expect(run?.attributes).toMatchObject({ "mail.size": 5, "echomq.job.outcome": "completed" });
  expect(run?.parentSpanContext?.spanId).toBe(add?.spanContext().spanId);
  const names = (await sdk.metrics()).map(({ descriptor }) => descriptor.name);
  expect(names).toContain("messaging.process.duration");
});

test("the code of docs/testing.md does what it says", async () => {
  const HOUR = 3_600_000;
  const down = "the mail server is down";
  const mail = (text: string) => ({
    name: "mail",
    data: { to: "ann", text },
    result: `sent: ${text}`,
  });
  expect(await testingExample(await url())).toMatchObject({
    today: [[mail("welcome")], 1],
    later: [[down, down], [mail("how is it going?")], 7 * 24 * HOUR + HOUR + 2 * HOUR],
    ran: true,
  });
});

test("docs/migrating.md shows the code that runs here, BullMQ's first", () => {
  expect(codeOf("migrating")).toEqual([
    ...regionsOf("migrating-before"),
    ...regionsOf("migrating"),
  ]);
});

test("the code of docs/migrating.md does what it says, before the move and after", async () => {
  const address = async (): Promise<{ host: string; port: number }> => {
    const { hostname, port } = new URL(await url());
    return { host: hostname, port: Number(port) };
  };
  const [queue, worker] = bullMails(await address());
  const result = new Promise((resolve) =>
    worker.once("completed", (_job, value) => resolve(value)),
  );
  await queue.add("mail", { to: "ann" });
  expect(await result).toBe("sent to ann");
  await worker.close();
  await queue.close();
  expect(await migratingExample(await address())).toEqual({
    result: "sent to ann",
    begun: 1,
    owl: ["delayed", 0, 1],
    ids: ["42", "owl:1"],
    none: null,
    paused: 1,
  });
});
