import type { Queue } from "@echomq/core";
import { kindKey, stampKey } from "@echomq/wire";
import type { Remains } from "./check/check.js";
import type { Written } from "./records.js";
import { QUEUES, type Stage } from "./stage.js";

/** Refusals and troubles that faults explain. */
const EXPECTED: ReadonlySet<string> = new Set([
  "CONNECTION_LOST",
  "TIMEOUT",
  "LOADING",
  "OOM",
  "CLOSED",
  "EMQSTATE",
  "EMQMISSING",
  "EMQRETRY",
]);

/** Troubles that no fault explains, each kind once. */
export function troubles(written: readonly Written[]): string[] {
  const found = new Map<string, string>();
  for (const { name, records } of written) {
    for (const one of records) {
      if (one.e === "refused" && !EXPECTED.has(one.code)) {
        found.set(one.code, `TROUBLE ${name}: an add was refused with ${one.code}`);
      }
      if (one.e === "trouble" && !EXPECTED.has(one.code)) {
        found.set(one.code, `TROUBLE ${name}: ${one.code} ${one.text}`);
      }
    }
  }
  return [...found.values()];
}

/** Reads what stands when all is over: ended jobs with their attempts, and letters. */
export async function remainsOf(stage: Stage): Promise<Remains> {
  const { control } = stage;
  const ended = async (unit: "completed" | "failed"): Promise<Map<string, number>> => {
    const ids = await control.zrange(stage.unit(unit), 0, -1);
    const made = new Map<string, number>();
    for (let at = 0; at < ids.length; at += 500) {
      const batch = control.pipeline();
      for (const id of ids.slice(at, at + 500)) batch.hget(kindKey(QUEUES.main, "job", id), "atm");
      for (const [n, [, atm]] of ((await batch.exec()) ?? []).entries()) {
        made.set(ids[at + n] ?? "", Number(atm));
      }
    }
    return made;
  };
  const letters = await control.lrange(stage.unit("wait", QUEUES.letters), 0, -1);
  return {
    completed: await ended("completed"),
    failed: await ended("failed"),
    letters: new Set(letters),
  };
}

/** Asks the doctor, compares the counts, and takes the queues down. */
export async function aftermath(stage: Stage): Promise<string[]> {
  const found: string[] = [];
  for (const queue of [stage.queue, stage.side, stage.letters]) {
    const { findings } = await queue.doctor();
    for (const { kind, id = "", key = "" } of findings) {
      found.push(`DOCTOR ${queue.name}: ${kind} ${id} ${key}`);
    }
    found.push(...(await miscounted(stage, queue)));
  }
  for (const queue of [stage.queue, stage.side, stage.letters]) {
    await queue.obliterate();
    found.push(...(await leftOf(stage, queue)));
  }
  return found;
}

/** Where the counts differ from what the structures hold. */
async function miscounted(stage: Stage, queue: Queue): Promise<string[]> {
  const counts = await queue.getJobCounts();
  const sets = ["prioritized", "delayed", "active", "completed", "failed"] as const;
  const held = new Map<string, number>();
  const { control } = stage;
  held.set("waiting", await control.llen(stage.unit("wait", queue.name)));
  for (const set of sets) held.set(set, await control.zcard(stage.unit(set, queue.name)));
  return [...held].flatMap(([state, count]) => {
    const told = counts[state as "waiting"];
    return told === count ? [] : [`COUNT ${queue.name}: ${told} ${state}, and ${count} stand`];
  });
}

/** Keys that stand after a queue was taken down, besides its stamp and settings. */
async function leftOf(stage: Stage, queue: Queue): Promise<string[]> {
  const { control } = stage;
  const stay = new Set([stampKey(queue.name), stage.unit("meta", queue.name)]);
  const left: string[] = [];
  for (const key of await control.keys(`emq:{${queue.name}}:*`)) {
    // A throttle goes on for its time behind a job that has ended.
    if (stay.has(key) || (await control.pttl(key)) >= 0) continue;
    left.push(`KEYS ${key} is left of a queue that was taken down`);
  }
  return left;
}
