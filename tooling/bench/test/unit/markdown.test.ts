import { expect, test } from "vitest";
import { markdown } from "../../src/report/markdown.js";

const MACHINE = {
  cpu: "a cpu",
  cores: 2,
  memoryGiB: 4,
  system: "linux",
  node: "20.0.0",
  redis: "7.0.0",
  echomq: "2.0.0",
  peer: "bullmq 6.7.0",
  ioredis: "5.0.0",
};
const RESULT = {
  id: "add-64",
  ratio: 2.61,
  low: 2.4,
  high: 2.8,
  ours: 26_100,
  peer: 10_000,
  unit: "jobs/s",
  rounds: 9,
};

test("a row tells both sides, the ratio and whether the lower quartile holds the mark", () => {
  const page = markdown(MACHINE, { results: [RESULT], unavailable: [] });
  const start = "| `add-64` | `add`, 64 in flight | 26 100 | 10 000 | jobs/s |";
  expect(page).toContain(`${start} 2.61 | 2.40 to 2.80 | 2.5 | no |`);
  expect(page).toContain("Rounds: 9");
});

test("what could not be measured is said, not left out", () => {
  const unavailable = [{ id: "drain-c1-ahead", why: "no such option" }];
  const page = markdown(MACHINE, { results: [], unavailable });
  expect(page).toContain("not available: no such option");
});
