import { describe, expect, test } from "vitest";
import { judge } from "../../src/check/verdict.js";

const FACTS = { bytes: 3, sha256: "ab", lines: 1 };
const FILE = { id: "1", task: { path: "a" }, expect: "facts" } as const;
const GONE = { id: "2", task: { path: "a.gone" }, expect: "failure" } as const;

describe("judge", () => {
  test("a completed job with the facts of its file is right", () => {
    const found = { state: "completed", result: { lines: 1, sha256: "ab", bytes: 3 } };
    expect(judge(FILE, found, FACTS)).toEqual({ kind: "right" });
  });

  test.each([
    ["bytes", { ...FACTS, bytes: 4 }],
    ["sha256", { ...FACTS, sha256: "ac" }],
    ["lines", { bytes: 3, sha256: "ab" }],
  ])("another or no %s is wrong", (name, result) => {
    const verdict = judge(FILE, { state: "completed", result }, FACTS);
    expect(verdict).toMatchObject({ kind: "wrong", why: expect.stringContaining(name) });
  });

  test.each([undefined, null, "text", 5])("the result %s is wrong", (result) => {
    expect(judge(FILE, { state: "completed", result }, FACTS).kind).toBe("wrong");
  });

  test("a result that cannot be checked is wrong", () => {
    expect(judge(FILE, { state: "completed", result: FACTS }, null).kind).toBe("wrong");
  });

  test.each(["gone", "unknown", "waiting", "delayed", "prioritized", "active"])(
    "a job that is %s at the end is lost",
    (state) => {
      expect(judge(FILE, { state }, FACTS).kind).toBe("lost");
      expect(judge(GONE, { state }, null).kind).toBe("lost");
    },
  );

  test("only a job without its file may fail, and only for that reason", () => {
    const missing = { state: "failed", failedReason: "ENOENT: no such file" };
    expect(judge(GONE, missing, null).kind).toBe("failed as expected");
    expect(judge(FILE, missing, FACTS).kind).toBe("wrong");
    expect(judge(GONE, { state: "failed", failedReason: "boom" }, null).kind).toBe("wrong");
    expect(judge(GONE, { state: "completed", result: FACTS }, null).kind).toBe("wrong");
  });
});
