import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { makeOutput } from "../../src/cli/output.js";
import { progressView } from "../../src/cli/progress.js";
import type { DrainReport } from "../../src/index.js";

const DRAINED: DrainReport = {
  phase: "drain",
  queue: "q",
  waitedMs: 1,
  active: 0,
  next: "x fence",
};

function written(work: (stream: PassThrough) => void): string {
  const stream = new PassThrough();
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  work(stream);
  return text;
}

describe("output", () => {
  test("for programs: one line of JSON per report, and nothing else", () => {
    const text = written((stdout) => {
      const output = makeOutput({ json: true, color: true, stdout, stderr: new PassThrough() });
      output.progress({ phase: "copy", part: "wait", done: 1, total: 2 });
      output.report(DRAINED);
      output.error(new Error("no"));
      output.end();
    });
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([DRAINED, { phase: null, error: { code: "Error", message: "no" } }]);
  });

  test("for people: words, colours only when asked for", () => {
    const say = (color: boolean): string =>
      written((stdout) => {
        const output = makeOutput({ json: false, color, stdout, stderr: new PassThrough() });
        output.report(DRAINED);
        output.report(DRAINED, false);
      });
    expect(say(false)).toBe(
      "drain\n  no job is active\n  next: x fence\ndrain\n  no job is active\n",
    );
    expect(say(true)).toContain("\u001b[1m");
  });

  test("progress without a terminal stays silent for short work", () => {
    expect(
      written((stream) => {
        const view = progressView(stream);
        for (let done = 0; done < 100; done += 1)
          view.show({ phase: "copy", part: "wait", done, total: 100 });
        view.stop();
      }),
    ).toBe("");
  });

  test("progress on a terminal is a bar", () => {
    const text = written((stream) => {
      const view = progressView(Object.assign(stream, { isTTY: true, columns: 80 }));
      view.show({ phase: "copy", part: "wait", done: 1, total: 2 });
      view.show({ phase: "copy", part: "wait", done: 2, total: 2 });
      view.show({ phase: "verify", part: "wait", done: 0, total: null });
      view.stop();
    });
    expect(text).toContain("copy wait");
  });
});
