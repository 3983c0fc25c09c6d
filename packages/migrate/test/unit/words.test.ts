import { describe, expect, test } from "vitest";
import { are, counted } from "../../src/words.js";

describe("words", () => {
  test("one and many", () => {
    expect([0, 1, 2].map((n) => `${counted(n, "v1 worker")} ${are(n)}`)).toEqual([
      "0 v1 workers are",
      "1 v1 worker is",
      "2 v1 workers are",
    ]);
    expect(counted(1, "hash", "hashes")).toBe("1 hash");
    expect(counted(2, "hash", "hashes")).toBe("2 hashes");
  });
});
