import { expect, test } from "vitest";
import { nodeProblem } from "../../node-version.mjs";

test.each(["20.19.0", "20.20.2", "22.0.0", "24.1.0"])("Node %s will do", (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});

test.each(["18.20.4", "20.18.3", "20.9.0"])("Node %s gets one sentence", (version) => {
  expect(nodeProblem(version)).toBe(`Node 20.19 or newer is needed, and this is Node ${version}.`);
});
