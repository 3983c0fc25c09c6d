import type { Reply } from "../driver/types.js";
import type { ToldJob } from "./spec.js";

/** Options and name of the last job that was read: those of one queue mostly are the same. */
interface Head {
  /** As both stand in the text, with what ends them. */
  readonly text: string;
  readonly opts: string | null;
  readonly name: string;
}

let last: Head = { text: "\n\n", opts: null, name: "" };

/** Reads the flat list of a `jobs` reply; undefined where it is none. */
export function readJobs(items: readonly Reply[]): readonly ToldJob[] | undefined {
  const jobs: ToldJob[] = [];
  let at = 0;
  while (at < items.length) {
    const first = items[at];
    const many = items[at + 1];
    if (typeof first !== "string") return undefined;
    if (typeof many !== "number") {
      const job = jobOf(first);
      if (job === undefined) return undefined;
      jobs.push(job);
      at += 1;
      continue;
    }
    const fields = items.slice(at + 2, at + 2 + many);
    if (fields.length !== many || !fields.every(isField)) return undefined;
    jobs.push({ id: first, fields });
    at += 2 + many;
  }
  return jobs;
}

function isField(value: Reply): value is string | null {
  return value === null || typeof value === "string";
}

/** A job told as one text. */
function jobOf(text: string): ToldJob | undefined {
  const idEnds = text.indexOf("\n");
  if (idEnds < 0) return undefined;
  if (!text.startsWith(last.text, idEnds + 1)) {
    const optsEnd = text.indexOf("\n", idEnds + 1);
    const nameEnds = text.indexOf("\n", optsEnd + 1);
    if (optsEnd < 0 || nameEnds < 0) return undefined;
    last = headOf(text.slice(idEnds + 1, optsEnd), text.slice(optsEnd + 1, nameEnds));
  }
  const headEnds = idEnds + 1 + last.text.length;
  const timeEnds = text.indexOf("\n", headEnds);
  if (timeEnds < 0) return undefined;
  const { name, opts } = last;
  const fields = [name, text.slice(timeEnds + 1), opts, text.slice(headEnds, timeEnds)];
  return { id: text.slice(0, idEnds), fields };
}

/** Copies of their own: kept as parts of a job's text they would keep its data. */
function headOf(opts: string, name: string): Head {
  const text = Buffer.from(`${opts}\n${name}\n`, "utf16le").toString("utf16le");
  return {
    text,
    opts: opts === "" ? null : Buffer.from(opts, "utf16le").toString("utf16le"),
    name: Buffer.from(name, "utf16le").toString("utf16le"),
  };
}
