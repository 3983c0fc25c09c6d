import { readFileSync } from "node:fs";
import { UsageError } from "@echomq/scripts/cli";
import { isEchoMQError } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import { EXIT, exitStatus } from "../../src/cli/exit.js";
import { errorDocument } from "../../src/cli/output.js";
import { ACTIVE_RULE, MigrationError } from "../../src/errors.js";
import { RUNBOOK } from "../../src/runbook.js";
import { runMain } from "../support/cli.js";

const error = (reason: MigrationError["reason"]): MigrationError =>
  new MigrationError({
    reason,
    queue: "q",
    phase: "copy",
    message: "No.",
    next: "echomq-migrate x",
  });

describe("MigrationError", () => {
  test("carries code, reason, phase and the next command", () => {
    const refused = error("ACTIVE");
    expect(isEchoMQError(refused, "MIGRATION_REFUSED")).toBe(true);
    expect(refused.name).toBe("MigrationError");
    expect(refused.message).toBe("No. Next: echomq-migrate x");
    expect(errorDocument(refused)).toEqual({
      phase: "copy",
      error: {
        code: "MIGRATION_REFUSED",
        reason: "ACTIVE",
        queue: "q",
        message: "No. Next: echomq-migrate x",
        details: {},
        next: "echomq-migrate x",
      },
    });
    expect(error("DIFFERENT").code).toBe("MIGRATION_DIFFERENT");
    expect(error("ABORTED").code).toBe("MIGRATION_ABORTED");
  });

  test("stands for an exit status", () => {
    expect(exitStatus(error("ACTIVE"))).toBe(EXIT.refused);
    expect(exitStatus(error("ABORTED"))).toBe(EXIT.stopped);
    expect(exitStatus(error("DIFFERENT"))).toBe(EXIT.different);
    expect(exitStatus(new UsageError("x"))).toBe(EXIT.usage);
    expect(exitStatus(new Error("x"))).toBe(EXIT.refused);
  });

  test("the runbook and the refusal say the same about jobs in flight", () => {
    expect(ACTIVE_RULE).toBe(
      "jobs that are active hold v1 locks and must finish on v1 workers first.",
    );
    expect(RUNBOOK.toLowerCase()).toContain(ACTIVE_RULE.toLowerCase());
    const page = readFileSync(new URL("../../../../docs/runbook.md", import.meta.url), "utf8");
    expect(page).toContain(RUNBOOK);
  });

  test("the pages name every reason, and no other; every command they show exists", async () => {
    const read = (path: string): string =>
      readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
    const declared = read("packages/migrate/src/errors.ts").matchAll(/^ {2}\| "([A-Z_]+)"/gm);
    const reasons = new Set([...declared].map(([, reason]) => reason));
    const runbook = read("docs/runbook.md");
    const table = runbook.slice(runbook.indexOf("## When something is refused"));
    const rows = [...table.matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)].flatMap(([, cell = ""]) =>
      cell.split(", ").map((each) => each.replaceAll("`", "")),
    );
    expect(new Set(rows)).toEqual(reasons);
    const readme = read("packages/migrate/README.md");
    const phases = readme.slice(readme.indexOf("## Phases"), readme.indexOf("Exit status"));
    for (const [, word = ""] of phases.matchAll(/`([A-Z_]{4,})`/g)) {
      if (!word.startsWith("MIGRATION_")) expect(reasons).toContain(word);
    }
    const { stdout } = await runMain("--help");
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    for (const page of [readme, runbook, read("docs/fence.md"), RUNBOOK]) {
      for (const [, name] of page.matchAll(/echomq-migrate ([a-z]+)/g))
        expect(commands).toContain(name);
    }
    for (const [, name] of phases.matchAll(/^\| `([a-z]+)` \|/gm)) expect(commands).toContain(name);
  });
});
