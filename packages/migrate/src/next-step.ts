import type { Location } from "./locate.js";

/** The command that goes on from each phase of the stamp. */
const AFTER: Readonly<Record<string, string>> = {
  fence: "copy",
  copy: "copy",
  verify: "verify",
  verified: "commit",
  rollback: "rollback",
  remove: "remove --yes",
};

/** The command that goes on from where a queue stands; null where none is left, or none is due yet. */
export function nextStep(at: Location): string | null {
  switch (at.state) {
    case "v1":
      return at.journal?.phase === "rollback" ? "rollback" : "plan";
    case "moving":
      return AFTER[at.phase ?? ""] ?? "status";
    case "done":
      return afterCommit(at);
    case "intruded":
      return "repair";
    default:
      return null;
  }
}

function afterCommit(at: Location): string | null {
  // An open journal keeps v2 clients out.
  if (at.journal !== null && at.journal.phase !== "committed") return "commit";
  switch (purgeOf(at)) {
    case "begun":
      return "commit --purge-v1";
    case "done":
      return null;
    default:
      // Until v2 has shown that it works the v1 keys are the way back, and no command destroys it by the way.
      return at.opened === null ? null : "commit --purge-v1";
  }
}

/** How far v1's keys of a committed queue are removed. */
export function purgeOf({ migrated }: Pick<Location, "migrated">): "none" | "begun" | "done" {
  if (migrated?.endsWith(" purged")) return "done";
  return migrated?.endsWith(" purging") ? "begun" : "none";
}
