import { describe, expect, test } from "vitest";
import { additionOf, type Letter, letterOf, sourceOf } from "../../src/job/dead-letter.js";
import { checkJobOptions } from "../../src/options/job-options.js";

const source = {
  queue: "mails",
  id: "7",
  failedReason: "why",
  attemptsMade: 2,
  opts: '{"attempts":2}',
  priority: 3,
};
const letter: Letter = { to: "dead", name: "mail", data: "{}", timestamp: 5, source };

describe("a letter", () => {
  test("is read back as it was written", () => {
    expect(letterOf(JSON.stringify(letter))).toEqual(letter);
  });

  test.each(["", "{}", "null", "7", "no json", '{"to":"dead","source":{}}'])(
    "is none when it is %j",
    (text) => expect(letterOf(text)).toBeNull(),
  );

  test("becomes the same job each time, under an id that says whose it is", () => {
    const job = additionOf(letter);
    expect(job).toEqual(additionOf(letter));
    expect(job).toMatchObject({
      id: "mails:7",
      name: "mail",
      data: "{}",
      timestamp: 5,
      priority: 0,
    });
    expect(sourceOf(JSON.parse(job.opts))).toEqual(source);
  });

  test("of a long id has a short one of its own", () => {
    const ids = ["x".repeat(512), `${"x".repeat(511)}y`].map(
      (id) => additionOf({ ...letter, source: { ...source, id } }).id,
    );
    for (const id of ids) expect(id.length).toBe("mails:".length + 64);
    expect(new Set(ids).size).toBe(2);
  });

  test.each([undefined, null, {}, { source: 7 }, { source: { queue: "q", id: "1", opts: "" } }])(
    "has no source in %j",
    (opts) => expect(sourceOf(opts)).toBeNull(),
  );
});

describe("job options", () => {
  test("deadLetter and keepLogs are stored with the job", () => {
    const { stored } = checkJobOptions({ deadLetter: { queue: "{dead}" }, keepLogs: 5 });
    expect(JSON.parse(stored)).toEqual({ deadLetter: "dead", keepLogs: 5 });
  });

  test.each([
    [{ deadLetter: "dead" }, "opts.deadLetter"],
    [{ deadLetter: {} }, "opts.deadLetter.queue"],
    [{ deadLetter: { queue: "emq" } }, "opts.deadLetter.queue"],
    [{ deadLetter: { queue: "a:b" } }, "opts.deadLetter.queue"],
    [{ keepLogs: 0 }, "opts.keepLogs"],
    [{ keepLogs: 1.5 }, "opts.keepLogs"],
    [{ keepLogs: 100_001 }, "opts.keepLogs"],
    [{ keepLogs: "5" }, "opts.keepLogs"],
  ])("%j is refused by name", (opts, option) => {
    expect(() => checkJobOptions(opts as object)).toThrow(expect.objectContaining({ option }));
  });
});
