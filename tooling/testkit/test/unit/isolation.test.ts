import { expect, test } from "vitest";
import { uniqueQueue } from "../../src/index.js";

test("queue names do not repeat and carry their prefix", () => {
  const names = new Set(Array.from({ length: 1000 }, () => uniqueQueue("mail")));
  expect(names.size).toBe(1000);
  for (const name of names) expect(name).toMatch(/^mail-[0-9a-f]{16}$/);
});
