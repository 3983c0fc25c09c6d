import { expect, test } from "vitest";
import { slotOf } from "../../src/index.js";

test.each([
  ["123456789", 12_739],
  ["{123456789}:wait", 12_739],
  ["emq:{123456789}:v2:wait", 12_739],
  ["foo", 12_182],
  ["", 0],
])("the slot of %j is %d", (key, slot) => {
  expect(slotOf(key)).toBe(slot);
});

test("an empty or open tag is no tag", () => {
  expect(slotOf("{}a")).not.toBe(slotOf("{}b"));
  expect(slotOf("{a")).not.toBe(slotOf("a"));
  expect(slotOf("{a}{b}")).toBe(slotOf("a"));
});
