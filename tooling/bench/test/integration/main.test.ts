import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const FLAGS = ["--conditions=@echomq/source", "--import", "tsx"];

test("one tiny case writes its counters as JSON and as a table", async () => {
  const dir = await mkdtemp(join(tmpdir(), "echomq-bench-"));
  try {
    const json = join(dir, "out.json");
    const args = ["--quick", "--only", "commands-c100", "--rounds", "1", "--scale", "0.05"];
    const run = await promisify(execFile)(process.execPath, [
      ...FLAGS,
      MAIN,
      ...args,
      "--json",
      json,
    ]);

    const { machine, cases, unavailable } = JSON.parse(await readFile(json, "utf8"));
    expect(machine).toMatchObject({ cores: expect.any(Number), peer: "bullmq 6.7.0" });
    expect(unavailable).toEqual([]);
    expect(cases).toEqual([
      {
        id: "commands-c100",
        ratio: expect.any(Number),
        low: expect.any(Number),
        high: expect.any(Number),
        ours: expect.any(Number),
        peer: expect.any(Number),
        unit: "commands/job",
        rounds: 1,
      },
    ]);
    // A job cannot be claimed and finished without a command; a hundred would be a broken counter.
    const [{ ours, peer, ratio, low, high }] = cases;
    for (const commands of [ours, peer]) {
      expect(commands).toBeGreaterThan(0.1);
      expect(commands).toBeLessThan(100);
    }
    expect([low, high]).toEqual([ratio, ratio]);
    expect(ratio).toBeCloseTo(peer / ours, 9);

    expect(run.stdout).toContain("| `commands-c100` |");
    expect(run.stdout).not.toContain("1/1");
    expect(run.stderr).toContain("drain-c100 1/1");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
