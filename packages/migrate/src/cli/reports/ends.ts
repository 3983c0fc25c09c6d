import { visible } from "@echomq/scripts/cli";
import type { RemoveReport } from "../../phases/remove.js";
import type { RepairReport } from "../../phases/repair.js";
import type { RollbackReport } from "../../phases/rollback.js";
import { counted } from "../../words.js";
import { firstOf } from "./parts.js";

export function rolledBack({ removed, restored, run, intruders }: RollbackReport): string[] {
  return [
    `  v1 has its queue back, run ${run}: ${counted(restored, "key")} restored, ` +
      `${counted(removed, "key")} of v2 removed`,
    ...(intruders.length > 0 ? [`  written by v1 after the fence: ${firstOf(intruders)}`] : []),
  ];
}

export function repaired(report: RepairReport): string[] {
  const { stamp, stampRestored, tombstoneRestored, aside, intruders } = report;
  const nothing = !stampRestored && !tombstoneRestored;
  return [
    `  ${stampRestored ? "the stamp stands again" : "the stamp stands"}: ${visible(stamp)}`,
    ...(tombstoneRestored ? ["  the tombstone stands again"] : []),
    ...(nothing ? ["  nothing was missing"] : []),
    ...(aside === null
      ? []
      : [`  what stood in its place was moved to ${visible(aside)}: look at it`]),
    ...(intruders.length > 0 ? [`  written by v1 meanwhile: ${firstOf(intruders)}`] : []),
  ];
}

export function removed({ q, keys, first, removed: gone, tombstone }: RemoveReport): string[] {
  const name = `emq:{${visible(q)}}`;
  return [
    gone === 0
      ? `  ${counted(keys, "key")} of ${name} would be deleted, all jobs with them:`
      : `  ${counted(gone, "key")} of ${name} deleted`,
    ...(gone === 0 ? first.slice(0, 10).map((key) => `    ${visible(key)}`) : []),
    ...(gone === 0 && keys > 10 ? ["    …"] : []),
    ...(tombstone === null
      ? []
      : [
          `  the tombstone ${visible(tombstone)} ${gone === 0 ? "would stay" : "stays"} and keeps v1 clients out; delete it by hand to use the name on v1 again`,
        ]),
  ];
}
