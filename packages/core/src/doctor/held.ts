import { rescueScript } from "@echomq/scripts";
import { isEchoMQError, kindKey, stampKey } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { isJobId } from "../ids/is-job-id.js";
import type { Findings } from "./report.js";
import { members } from "./scan.js";

const OP = "Queue.doctor";

/** Jobs that deduplication keeps back although no record names them: nothing would ever free them. */
export async function held(session: Session, fix: boolean, findings: Findings): Promise<void> {
  for await (const entries of members(session, "held")) {
    if (findings.full) return;
    const jobs = entries.map(([id]) => id).filter(isJobId);
    if (jobs.length === 0) continue;
    const told = await look(session, jobs, fix);
    for (const [n, id] of jobs.entries()) {
      if (told[n] === "alone") findings.add("held-alone", { id }, fix);
    }
  }
}

async function look(
  session: Session,
  jobs: readonly string[],
  fix: boolean,
): Promise<readonly string[]> {
  const { q, main } = session;
  const reads = jobs.map((id) => ["HGET", kindKey(q, "job", id), "deid"]);
  const found = await main.readEach(reads, { op: OP }, { key: stampKey(q) });
  const records = jobs.map((id, n) => {
    const one = found[n];
    // Any name does where the job has none: it is not looked at then.
    return one?.ok && typeof one.value === "string" && isJobId(one.value) ? one.value : id;
  });
  const args = { now: await session.clock.exact(), fix: fix ? 1 : 0 };
  try {
    return (await session.read(rescueScript, { q, jobs, records, args }, OP)) ?? [];
  } catch (error) {
    // The priority sequence is broken, which is a finding of its own and is mended first.
    if (isEchoMQError(error, "EMQSTATE")) return [];
    throw error;
  }
}
