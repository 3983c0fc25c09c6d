import { expect, test } from "vitest";
import { columns, perSecond, plural, seconds, shownUrl, wrap } from "../../src/view/text.js";

test("wrap breaks at spaces and keeps longer words whole", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("a-very-long-word b", 5)).toEqual(["a-very-long-word", "b"]);
});

test("columns are aligned", () => {
  const lines = columns([
    ["state", "before"],
    ["waiting", "12"],
  ]);
  expect(lines).toEqual(["state     before", "waiting       12"]);
});

test("numbers in words", () => {
  expect([plural(1, "job"), plural(2, "job")]).toEqual(["1 job", "2 jobs"]);
  expect(seconds(1_250)).toBe("1.3 s");
  expect(perSecond(500, 2_000)).toBe("250/s");
  expect(perSecond(0, 0)).toBe("0/s");
});

test("a URL is shown without its password", () => {
  expect(shownUrl("redis://me:secret@host:6379/1")).toBe("redis://me:***@host:6379/1");
});
