import { expect, test } from "vitest";
import { showProgress } from "../../src/view/progress.js";

test("without a terminal: plain lines, the last one with the average, nothing after the end", () => {
  const said: string[] = [];
  const screen = { stream: process.stdout, live: false, line: (text: string) => said.push(text) };
  const progress = showProgress(screen, "checked", 4);
  progress.update(4, "1 failed");
  progress.end();
  progress.update(4);
  progress.end();
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/^checked: 4 of 4, \d+\/s on average, 0 remaining, 1 failed$/);
});
