import { readFileSync } from "node:fs";
import { isEchoMQError } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import { EXIT, exitStatus, UsageError } from "../../src/cli/exit.js";
import { errorDocument } from "../../src/cli/output.js";
import { ACTIVE_RULE, MigrationError } from "../../src/errors.js";
import { RUNBOOK } from "../../src/runbook.js";

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
    expect(exitStatus(error("ABORTED"))).toBe(EXIT.refused);
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
});
