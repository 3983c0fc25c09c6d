import { describe, expect, test } from "vitest";
import { expand, told } from "../../src/events/expand.js";
import { checkPlace, compareEntries, idOf } from "../../src/events/place.js";

describe("a place in the stream", () => {
  test.each([
    ["5-1", { entry: "5-1" }],
    ["5", { entry: "5-0" }],
    ["5-1:3", { entry: "5-1", index: 3 }],
    ["0-0", { entry: "0-0" }],
  ])("%s is read", (text, place) => {
    expect(checkPlace(text)).toEqual(place);
  });

  test("no place is from now on", () => {
    expect(checkPlace(undefined)).toBeUndefined();
    expect(checkPlace("$")).toBeUndefined();
  });

  test.each(["", "-", "a-1", "1-", "1-1:", "1-1:x", "1-1-1", "99999999999999999-0", 5, null, {}])(
    "%j is refused",
    (value) => {
      expect(() => checkPlace(value)).toThrow(/^lastEventId: must be/);
    },
  );

  test("entries are compared as numbers, and an id can be read back", () => {
    expect(compareEntries("9-1", "10-0")).toBeLessThan(0);
    expect(compareEntries("10-2", "10-1")).toBeGreaterThan(0);
    expect(compareEntries("10-2", "10-2")).toBe(0);
    expect(checkPlace(idOf({ entry: "1-2", index: 3 }))).toEqual({ entry: "1-2", index: 3 });
  });
});

describe("an entry", () => {
  test("is expanded in order, from where it was left, and passes over codes it does not know", () => {
    const pairs = ["wa", "mail", "?b", "", "cb", "1", "Cc", ""];
    expect(expand("5-1", pairs).map(({ eventId, kind, id }) => [eventId, kind, id])).toEqual([
      ["5-1:0", "waiting", "a"],
      ["5-1:2", "completed", "b"],
      ["5-1:3", "completed", "c"],
    ]);
    expect(expand("5-1", pairs, 3).map(({ id, referred }) => [id, referred])).toEqual([
      ["c", true],
    ]);
    expect(expand("5-1", ["wa"])).toEqual([]);
  });

  test.each<[string[], unknown]>([
    [["wa", "mail"], { jobId: "a", name: "mail" }],
    [["wa", ""], { jobId: "a" }],
    [["da", "12"], { jobId: "a", delay: 12 }],
    [["ca", ""], { jobId: "a" }],
    [["ca", '{"n":1}'], { jobId: "a", returnvalue: { n: 1 } }],
    [["fa", "why"], { jobId: "a", failedReason: "why" }],
    [["fa", ""], { jobId: "a", failedReason: "" }],
    [["ga", "5"], { jobId: "a", data: 5 }],
    [["p", ""], {}],
    [["sa", ""], { jobId: "a" }],
    [["eshipped", '{"n":1}'], { n: 1 }],
    [["eshipped", "["], {}],
  ])("%j is told as %j", (pairs, payload) => {
    const [event] = expand("1-1", pairs);
    expect(event && told(event).payload).toEqual(payload);
  });

  test("a referred value comes of the job, or not at all", () => {
    const [event] = expand("1-1", ["Fa", ""]);
    expect(event && told(event, { failedReason: "long" }).payload).toEqual({
      jobId: "a",
      failedReason: "long",
    });
    expect(event && told(event).payload).toEqual({ jobId: "a" });
  });
});
