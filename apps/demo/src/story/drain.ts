import type { Migration } from "@echomq/migrate";
import { isEchoMQError } from "@echomq/wire";
import { insist, type Stage } from "../stage.js";
import { plural, seconds } from "../view/text.js";
import type { FilledQueue } from "./fill.js";
import type { DemoMigration } from "./migration.js";
import type { V1Work } from "./work-on-v1.js";

/** How many jobs stood in each state of the v1 queue when it stopped. */
export type StateCounts = Readonly<Record<string, number>>;

const TELL_EVERY_MS = 1_000;

/** Act: the migration says what it would do; what is active finishes on v1; v1 stops. */
export async function drain(
  stage: Stage,
  { migration, hear }: DemoMigration,
  filled: FilledQueue,
  work: V1Work | null,
): Promise<StateCounts> {
  const { view } = stage;
  await look(stage, migration);
  if (work !== null) await refuseWhileActive(stage, migration, work);
  let shownAt = Number.NEGATIVE_INFINITY;
  hear(({ done, total }) => {
    if (performance.now() - shownAt < TELL_EVERY_MS) return;
    shownAt = performance.now();
    view.say(`still active on v1: ${(total ?? done) - done}`);
  });
  const { waitedMs, active } = await migration.drain();
  hear(null);
  view.good(`nothing is active any more: ${plural(active, "job")} ended in ${seconds(waitedMs)}`);
  await work?.worker.stop();
  const counts = await filled.v1.getJobCounts();
  await filled.v1.close();
  view.say("v1 worker and v1 producer are stopped");
  const endedOnV1 = (counts.completed ?? 0) + (counts.failed ?? 0);
  const told = work?.ended.size ?? 0;
  insist(endedOnV1 === told, `v1 holds ${endedOnV1} ended jobs, its worker told of ${told}`);
  return counts;
}

async function look({ view }: Stage, migration: Migration): Promise<void> {
  const { queues } = await migration.discover();
  for (const { queue, prefix, version, active, clients } of queues) {
    const workers = clients?.filter(({ kind }) => kind === "worker").length ?? 0;
    const who = plural(workers, "v1 worker");
    view.say(`discover: ${prefix}:${queue} of ${version}, ${active} active, ${who} connected`);
  }
  const plan = await migration.plan();
  const states = plan.states.map(({ state, jobs }) => `${state} ${jobs}`).join(", ");
  view.say(`plan: ${plan.jobs} jobs to move (${states}), about ${plan.estimatedSeconds} s`);
  for (const note of plan.notes) view.say(`- ${note}`);
  for (const { reason, message, count } of plan.blockers) {
    view.say(`- not yet, ${reason}: ${message} (${count})`);
  }
}

/** A queue in use is not fenced: trying shows it, and changes nothing. */
async function refuseWhileActive(
  { view }: Stage,
  migration: Migration,
  { inFlight, worker }: V1Work,
): Promise<void> {
  const error: unknown = await migration.fence().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isEchoMQError(error, "MIGRATION_REFUSED")) {
    insist(error !== undefined, "a queue in use was fenced");
    throw error;
  }
  view.quote("to fence it now is refused", error.message);
  view.say(`in flight: job ${inFlight.id} on v1 worker pid ${worker.pid} (${inFlight.path})`);
}
