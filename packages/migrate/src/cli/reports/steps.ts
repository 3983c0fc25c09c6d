import { table, visible } from "@echomq/scripts/cli";
import type { CommitReport } from "../../phases/commit.js";
import type { CopyReport } from "../../phases/copy.js";
import type { DrainReport } from "../../phases/drain.js";
import type { FenceReport } from "../../phases/fence.js";
import type { PurgeReport } from "../../phases/purge.js";
import type { VerifyReport } from "../../phases/verify.js";
import { counted, span } from "../../words.js";
import { firstOf } from "./parts.js";

export function drained({ active, waitedMs }: DrainReport): string[] {
  if (active === 0) return ["  no job is active"];
  return [`  ${counted(active, "job")} finished on v1, after ${span(waitedMs)}`];
}

export function fenced({ already, run, moved, vault, tombstone }: FenceReport): string[] {
  return [
    `  ${already ? "closed before" : "closed"} for v1 and v2 clients, run ${run}`,
    `  ${counted(moved, "key")} of v1 in the vault ${visible(vault)}`,
    ...(tombstone === null ? [] : [`  a tombstone stands at ${visible(tombstone)}`]),
  ];
}

export function copied(report: CopyReport): string[] {
  const { states, dedups, minutes, dangling } = report;
  const resumed = states.some(({ resumedAt }) => resumedAt > 0);
  const head = ["state", "members", ...(resumed ? ["from"] : []), "copied"];
  const extra = states.reduce((sum, { markers }) => sum + markers, 0);
  const clamped = states.reduce((sum, each) => sum + each.clamped, 0);
  return [
    ...(states.length === 0
      ? ["  no jobs"]
      : [
          table([
            head,
            ...states.map((each) => [
              each.state,
              each.members,
              ...(resumed ? [each.resumedAt] : []),
              each.copied,
            ]),
          ]),
        ]),
    `  ${counted(report.copied, "job")}, ${counted(dedups, "deduplication key")}, ` +
      `${counted(report.options, "option")}, ${counted(minutes, "minute")} of metrics`,
    ...(extra > 0 ? [`  ${counted(extra, "marker")} of older lines left out`] : []),
    ...(clamped > 0 ? [`  ${counted(clamped, "priority", "priorities")} clamped`] : []),
    ...without(dangling),
  ];
}

export function verified(report: VerifyReport): string[] {
  const { jobs, dangling, orphans, twice, intruders } = report;
  return [
    `  ${counted(jobs, "job")} and their places are the same on both wires`,
    ...without(dangling),
    ...(orphans.count > 0
      ? [
          `  ${counted(orphans.count, "job")} of v1 in no state, not carried: ${firstOf(orphans.first)}`,
        ]
      : []),
    ...(twice > 0 ? [`  ${counted(twice, "job")} in two states, carried as they are`] : []),
    ...(intruders.length > 0 ? [`  written by v1 after the fence: ${firstOf(intruders)}`] : []),
  ];
}

function without({ count, first }: CopyReport["dangling"] | VerifyReport["dangling"]): string[] {
  if (count === 0) return [];
  return [`  ${counted(count, "member")} without a job, not carried: ${firstOf(first)}`];
}

export function committed({ queue, q, run, already, purged }: CommitReport): string[] {
  const from = visible(queue);
  return [
    `  ${already ? "committed before" : "committed"}: ${from} is on the v2 wire as emq:{${visible(q)}}, run ${run}`,
    ...(purged === null
      ? [
          "  start v2 workers and producers now; until one of them opens the queue, rollback gives it back",
          "  v1's keys stay until commit --purge-v1",
        ]
      : purgedOf(purged)),
  ];
}

/** What was removed for good. */
export function purgedOf({ removed, left, others }: PurgeReport): string[] {
  return [
    `  ${counted(removed, "key")} of v1 removed; the tombstone stays, and there is no way back`,
    ...(left.length > 0
      ? [`  written by v1 after the fence and left for you: ${firstOf(left)}`]
      : []),
    ...(others.length > 0 ? [`  keys of other v1 queues left alone: ${firstOf(others)}`] : []),
  ];
}
