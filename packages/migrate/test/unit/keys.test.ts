import { describe, expect, test } from "vitest";
import { classifyV1, v1Keys } from "../../src/v1/keys.js";

describe("v1Keys", () => {
  test("spells keys as v1 does and the vault beside them", () => {
    const keys = v1Keys("bull", "orders", "orders");
    expect(keys.unit("wait")).toBe("bull:orders:wait");
    expect(keys.vaulted("wait")).toBe("bull:orders:emq-vault:wait");
    expect(keys.logs("7")).toBe("bull:orders:7:logs");
    expect(keys.inPlace).toBe(false);
    expect(keys.live.slice(0, 4)).toEqual([
      "bull:orders:meta",
      "bull:orders:active",
      "bull:orders:waiting-children",
      "bull:orders:repeat",
    ]);
    expect(new Set([...keys.live, ...keys.vault]).size).toBe(keys.live.length * 2);
  });

  test("only prefix emq with the same braced name is in place", () => {
    expect(v1Keys("emq", "{orders}", "orders").inPlace).toBe(true);
    expect(v1Keys("emq", "orders", "orders").inPlace).toBe(false);
    expect(v1Keys("emq", "{orders}", "other").inPlace).toBe(false);
    expect(v1Keys("bull", "{orders}", "orders").inPlace).toBe(false);
  });
});

describe("classifyV1", () => {
  test.each([
    ["wait", { kind: "unit", unit: "wait" }],
    ["metrics:failed:data", { kind: "unit", unit: "metrics:failed:data" }],
    ["emq-vault:metrics:failed", { kind: "vault", unit: "metrics:failed" }],
    ["17", { kind: "job", id: "17" }],
    ["a:b:c", { kind: "job", id: "a:b:c" }],
    ["17:logs", { kind: "logs", id: "17" }],
    ["17:lock", { kind: "lock", id: "17" }],
    ["a:b:c:processed", { kind: "flow", id: "a:b:c" }],
    ["17:dependencies", { kind: "flow", id: "17" }],
    ["de:x:y", { kind: "dedup", id: "x:y" }],
    ["repeat:abc", { kind: "schedule", id: "abc" }],
    [":logs", { kind: "job", id: ":logs" }],
  ])("%s", (rest, wanted) => {
    expect(classifyV1(rest, false)).toEqual(wanted);
  });

  test("in place, the v2 keys are none of v1's", () => {
    expect(classifyV1("v2:job:1", true)).toEqual({ kind: "v2" });
    expect(classifyV1("v2:job:1", false)).toEqual({ kind: "job", id: "v2:job:1" });
  });
});
