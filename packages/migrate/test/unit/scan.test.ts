import { describe, expect, test } from "vitest";
import { Findings } from "../../src/carry/findings.js";
import { Sample } from "../../src/carry/ids.js";
import { globEscape } from "../../src/v1/scan.js";

describe("scan and samples", () => {
  test("a pattern means the text and nothing else", () => {
    expect(globEscape("a*b?[c]^\\d-")).toBe("a\\*b\\?\\[c\\]\\^\\\\d\\-");
  });

  test("a sample counts all and keeps the first", () => {
    const sample = new Sample<number>(2);
    for (const item of [1, 2, 3]) sample.add(item);
    expect(sample).toMatchObject({ count: 3, first: [1, 2] });
  });

  test("findings keep the first of each place, so one place cannot hide another", () => {
    const findings = new Findings();
    for (let n = 0; n < 50; n += 1) findings.differ("wait", String(n), "differs");
    findings.differ("failed", "x", "differs");
    expect(findings.count).toBe(51);
    expect(findings.first).toHaveLength(21);
    expect(findings.first.at(-1)).toEqual({ where: "failed", id: "x", what: "differs" });
  });
});
