import type { StoryJob } from "../work/cast.js";
import type { FileFacts } from "../work/measure.js";

/** How a job was found at the end of the story. */
export interface FoundJob {
  /** Its state on the v2 wire; `gone` when no such job is known. */
  readonly state: string;
  readonly result?: unknown;
  readonly failedReason?: string | undefined;
}

/** What became of one job. */
export type Verdict =
  | { readonly kind: "right" | "failed as expected" }
  | { readonly kind: "lost" | "wrong"; readonly why: string };

/** Judges one job by how it was found; `facts` is the direct computation, null without a file. */
export function judge(job: StoryJob, found: FoundJob, facts: FileFacts | null): Verdict {
  const { state } = found;
  if (state === "gone" || state === "unknown") return { kind: "lost", why: "no such job is left" };
  if (state === "failed") {
    const reason = found.failedReason ?? "no reason";
    const expected = job.expect === "failure" && reason.startsWith("ENOENT");
    return expected ? { kind: "failed as expected" } : { kind: "wrong", why: `failed: ${reason}` };
  }
  if (state !== "completed") return { kind: "lost", why: `never finished, it is ${state}` };
  if (job.expect === "failure") return { kind: "wrong", why: "completed without its file" };
  const difference = differenceOf(found.result, facts);
  return difference === null ? { kind: "right" } : { kind: "wrong", why: difference };
}

function differenceOf(result: unknown, facts: FileFacts | null): string | null {
  if (facts === null) return "the file cannot be read any more, so its result cannot be checked";
  if (typeof result !== "object" || result === null)
    return `its result is ${JSON.stringify(result)}`;
  const given = result as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(facts)) {
    if (given[name] !== value) return `${name} is ${String(given[name])}, should be ${value}`;
  }
  return null;
}
