import { type ModelJob, newJob, type Spec } from "./jobs.js";
import type { World } from "./world.js";

/** What an add answers: an id, `EMQFULL`, or `ANY` where it may be any. */
export type AddAnswer = string;

export interface Row {
  readonly id: string;
  readonly spec: Spec;
}

/** Adds jobs of one call, one after the other; `whole` where none is added unless all are. */
export function addRows(world: World, rows: readonly Row[], whole: boolean): AddAnswer[] {
  const before = whole ? world.copy() : undefined;
  const stood = new Set(world.jobs.keys());
  const told = world.told.length;
  const wrote: (ModelJob | undefined)[] = [];
  const answers = rows.map(({ id, spec }) => {
    const was = world.jobs.get(id);
    // Of one call, an id that stood before it is that job's, whatever becomes of it in the call.
    const answer = stood.has(id) && was === undefined ? id : addOne(world, id, spec);
    const is = world.jobs.get(id);
    wrote.push(is === was ? undefined : is);
    return answer;
  });
  if (before && answers.includes("EMQFULL")) {
    before();
    return rows.map(() => "EMQFULL");
  }
  for (const { id } of rows) if (!world.known.includes(id)) world.known.push(id);
  const undone = new Set(wrote.filter((job) => job && world.jobs.get(job.id) !== job));
  const gone = new Set([...undone].map((job) => job?.id));
  // One that another of the same call took the place of was never there.
  const events = world.told.splice(told);
  world.told.push(...events.filter(({ id }) => !gone.has(id)));
  return answers.map((answer, at) => {
    const { id, spec } = rows[at] as Row;
    if (answer === id && undone.has(wrote[at])) {
      return world.records.get(spec.deduplication?.id ?? "")?.job ?? answer;
    }
    // KNOWN: who was dropped for such a one is told the id of it.
    return wrote[at] === undefined && gone.has(answer) ? "ANY" : answer;
  });
}

function addOne(world: World, id: string, spec: Spec): AddAnswer {
  const { deduplication: lock } = spec;
  const known = world.jobs.get(id);
  if (known !== undefined) {
    // The same once more, as after a lost reply: it is told what it was told.
    const record = lock && world.records.get(lock.id);
    return known.addedAt === world.now && record?.next === id ? record.job : id;
  }
  const full = world.maxLength !== null && world.waiting >= world.maxLength;
  if (lock === undefined) {
    if (full) return "EMQFULL";
    write(world, id, spec);
    return id;
  }
  const record = world.record(lock.id);
  const ttl = lock.keepLastIfActive ? 0 : (lock.ttl ?? 0);
  const until = ttl > 0 ? world.now + ttl : undefined;
  if (record === undefined) {
    if (full) return "EMQFULL";
    world.records.set(lock.id, { job: id, next: undefined, until });
    write(world, id, spec);
    return id;
  }
  // A throttle may stand behind its job, whose id is another job's by now.
  const named = world.jobs.get(record.job);
  const holder = named?.spec.deduplication?.id === lock.id ? named : undefined;
  if (lock.replace && holder?.place === "delayed") {
    world.dropNext(record);
    world.tell(holder.id, "x");
    world.drop(holder.id);
    if (ttl === 0 || lock.extend) record.until = until;
    record.job = id;
    write(world, id, spec);
    return id;
  }
  if (lock.keepLastIfActive && holder?.place === "active") {
    world.dropNext(record);
    record.next = id;
    record.until = undefined;
    const job = newJob(id, spec, world.now);
    job.place = "held";
    world.jobs.set(id, job);
    return record.job;
  }
  if (lock.extend && ttl > 0 && !lock.replace && record.next === undefined) record.until = until;
  return record.job;
}

function write(world: World, id: string, spec: Spec): void {
  const job = newJob(id, spec, world.now);
  world.jobs.set(id, job);
  world.tell(id, spec.delay > 0 ? "d" : "w");
  if (spec.delay > 0) world.putOff(job, spec.delay);
  else if (spec.lifo) world.lineUp(job, "front");
  else world.lineUp(job, "back");
}
