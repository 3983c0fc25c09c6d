import type { CommitReport } from "../phases/commit.js";
import type { CopyReport } from "../phases/copy.js";
import type { DiscoverReport } from "../phases/discover.js";
import type { DrainReport } from "../phases/drain.js";
import type { FenceReport } from "../phases/fence.js";
import type { PlanReport } from "../phases/plan.js";
import type { PurgeReport } from "../phases/purge.js";
import type { RemoveReport } from "../phases/remove.js";
import type { RepairReport } from "../phases/repair.js";
import type { RollbackReport } from "../phases/rollback.js";
import type { StatusReport } from "../phases/status.js";
import type { VerifyReport } from "../phases/verify.js";
import { removed, repaired, rolledBack } from "./reports/ends.js";
import { discovered, planned } from "./reports/look.js";
import type { Paint } from "./reports/parts.js";
import { stands } from "./reports/status.js";
import { committed, copied, drained, fenced, purgedOf, verified } from "./reports/steps.js";

/** A report of the tool. */
export type Report =
  | DiscoverReport
  | PlanReport
  | DrainReport
  | FenceReport
  | CopyReport
  | VerifyReport
  | CommitReport
  | PurgeReport
  | RollbackReport
  | StatusReport
  | RepairReport
  | RemoveReport;

/** A report in words and tables; with the command to run next, unless it is walked by itself. */
export function describeReport(report: Report, paint: Paint, next = true): string {
  return [
    paint(1, report.phase),
    ...linesOf(report, paint),
    ...(next && report.next !== null ? [`  next: ${report.next}`] : []),
  ].join("\n");
}

function linesOf(report: Report, paint: Paint): string[] {
  switch (report.phase) {
    case "discover":
      return discovered(report);
    case "plan":
      return planned(report, paint);
    case "drain":
      return drained(report);
    case "fence":
      return fenced(report);
    case "copy":
      return copied(report);
    case "verify":
      return verified(report);
    case "commit":
      return committed(report);
    case "purge":
      return purgedOf(report);
    case "rollback":
      return rolledBack(report);
    case "status":
      return stands(report);
    case "repair":
      return repaired(report);
    case "remove":
      return removed(report);
  }
}
