import type { Happened } from "../history.js";
import type { How, Plan, Written } from "../records.js";

/** One run of a handler. */
export interface Ran {
  readonly who: string;
  readonly token: string;
  /** Server ms of its claim. */
  readonly claimed: number;
  readonly from: number;
  /** Undefined where it never ended: its process did. */
  to: number | undefined;
  how: How | undefined;
  lost: boolean;
}

/** All that is known of one id. */
export interface Known {
  readonly id: string;
  plan: Plan | undefined;
  /** Its add was answered with this id, for this job and no other. */
  acknowledged: boolean;
  readonly runs: Ran[];
  readonly events: Happened[];
  /** What was asked of it by name. */
  readonly ops: Set<string>;
}

/** What all processes wrote down and what the server told, by id, of one queue. */
export interface Evidence {
  readonly jobs: ReadonlyMap<string, Known>;
  readonly adds: number;
  readonly refused: number;
}

/** Puts together what is known. */
export function gather(
  q: string,
  written: readonly Written[],
  events: readonly Happened[],
): Evidence {
  const jobs = new Map<string, Known>();
  const of = (id: string): Known => {
    const known = jobs.get(id) ?? {
      id,
      plan: undefined,
      acknowledged: false,
      runs: [],
      events: [],
      ops: new Set<string>(),
    };
    jobs.set(id, known);
    return known;
  };
  const plans = new Map<string, Plan>();
  let refused = 0;
  for (const { records } of written) {
    for (const record of records) {
      if (record.e === "add" && record.q === q) plans.set(record.plan.k, record.plan);
    }
  }
  for (const { name, records } of written) {
    const running = new Map<string, Ran>();
    for (const record of records) {
      if (record.e === "added") {
        const plan = plans.get(record.k);
        if (plan === undefined) continue;
        // Where another may stand for it only its run tells whose id that is.
        if (plan.dedup === undefined) Object.assign(of(record.id), { plan, acknowledged: true });
      } else if (record.e === "refused" && plans.has(record.k)) refused += 1;
      else if (record.e === "op" && record.q === q && record.id !== "")
        of(record.id).ops.add(record.op);
      else if (record.e === "start" && plans.has(record.k)) {
        const { token, claimed, at, id } = record;
        const run: Ran = {
          who: name,
          token,
          claimed,
          from: at,
          to: undefined,
          how: undefined,
          lost: false,
        };
        const known = of(id);
        known.plan ??= plans.get(record.k);
        known.runs.push(run);
        running.set(`${id} ${token}`, run);
      } else if (record.e === "end") {
        const run = running.get(`${record.id} ${record.token}`);
        if (run) Object.assign(run, { to: record.at, how: record.how });
      } else if (record.e === "lost") {
        for (const run of jobs.get(record.id)?.runs ?? []) {
          if (run.who === name && (run.to === undefined || run.to >= record.at - LOST_MS))
            run.lost = true;
        }
      }
    }
  }
  for (const event of events) if (event.id !== "") of(event.id).events.push(event);
  for (const { runs } of jobs.values())
    runs.sort((a, b) => a.claimed - b.claimed || a.from - b.from);
  return { jobs, adds: plans.size, refused };
}

/** How long before it is told a run may have ended that lost its lease, in ms. */
const LOST_MS = 30_000;
