import { addScript } from "@echomq/scripts";
import { ofScript } from "@echomq/testkit";
import { isEchoMQError, kindKey } from "@echomq/wire";
import { expect } from "vitest";
import type { JobOptions } from "../../../src/index.js";
import type { Act } from "./acts.js";
import { type AddAnswer, addRows } from "./add-rules.js";
import type { Spec } from "./jobs.js";
import type { Real } from "./real.js";
import type { World } from "./world.js";

type Add = Extract<Act, { type: "add" }>;

/** Adds jobs in one of the ways there are, and compares what each add answered. */
export async function doAdd(world: World, real: Real, act: Add): Promise<void> {
  const queue = real.queues[act.by] as Real["queue"];
  const all = act.way === "one" ? act.rows : apart(act.rows);
  // KNOWN: a throttle whose job has ended takes another job of the same id for it.
  const throttled = [...world.records.values()].flatMap(({ job, until }) => (until ? job : []));
  const specs = all.filter(({ id }) => id === undefined || !throttled.includes(id));
  if (specs.length === 0) return;
  const rows = specs.map((spec, at) => ({ id: spec.id ?? `?${at}`, spec }));
  const job = (spec: Spec) => ({ name: "job", data: { spec: 1 }, opts: optionsOf(spec) });
  const one = async (spec: Spec): Promise<AddAnswer> => {
    const { name, data, opts } = job(spec);
    return answerOf(queue.add(name, data, opts).then(({ id }) => id));
  };
  // KNOWN: sent again, twins of one call meet each other; and an id that was replaced may be had anew.
  const dedups = specs.flatMap(({ deduplication }) => deduplication?.id ?? []);
  const own = specs.some(({ id }) => id !== undefined);
  const twins = act.way !== "one" && (own || new Set(dedups).size < dedups.length);
  const rule =
    act.lost > 0 && !twins ? real.plan.on(ofScript(addScript), { kind: "lost" }) : undefined;
  let told: AddAnswer[] = [];
  if (act.way === "one") {
    for (const row of rows) {
      const answer = await one(row.spec);
      await settle(world, real, [row], false, [answer]);
    }
  } else if (act.way === "tick") {
    told = await Promise.all(specs.map(one));
  } else {
    const added = queue.addBulk(specs.map(job));
    const ids = added.then((jobs): AddAnswer[] => jobs.map((one) => one.id));
    told = await ids.catch((error: unknown) => rows.map(() => full(error)));
  }
  rule?.remove();
  if (act.way !== "one") await settle(world, real, rows, act.way === "bulk", told);
}

/** Whose turn comes first among twins of an id and of a deduplication in one call is nobody's promise. */
function apart(rows: readonly Spec[]): readonly Spec[] {
  if (rows.every(({ deduplication }) => deduplication === undefined)) return rows;
  return rows.filter(
    ({ id }, at) => id === undefined || rows.findIndex((row) => row.id === id) === at,
  );
}

async function settle(
  world: World,
  real: Real,
  rows: readonly { readonly id: string; readonly spec: Spec }[],
  whole: boolean,
  told: readonly AddAnswer[],
): Promise<void> {
  const answers = addRows(world, rows, whole);
  const ids = new Map<string, string>();
  for (const [at, { id, spec }] of rows.entries()) {
    if (!id.startsWith("?")) continue;
    const place = world.jobs.get(id)?.place;
    if (place === undefined) continue;
    // An add that is kept back answers with the job it waits for.
    const held = place === "held" ? await nextOf(real, spec) : undefined;
    ids.set(id, held ?? told[at] ?? "");
  }
  for (const [from, to] of ids) world.rename(from, to);
  const expected = answers.map((answer, at) =>
    answer === "ANY" ? told[at] : (ids.get(answer) ?? answer),
  );
  expect(told, "what the adds answered").toEqual(expected);
}

async function nextOf(real: Real, spec: Spec): Promise<string> {
  const key = kindKey(real.q, "dedup", spec.deduplication?.id ?? "");
  return (await real.client.hget(key, "next")) ?? "";
}

function optionsOf(spec: Spec): JobOptions {
  const { id, delay, priority, lifo, attempts, backoff, ttl, deduplication } = spec;
  return {
    ...(id === undefined ? {} : { jobId: id }),
    delay,
    priority,
    lifo,
    attempts,
    backoff,
    removeOnComplete: spec.completed,
    removeOnFail: spec.failed,
    ...(ttl === undefined ? {} : { ttl }),
    ...(deduplication === undefined ? {} : { deduplication }),
  };
}

function answerOf(adding: Promise<string>): Promise<AddAnswer> {
  return adding.catch(full);
}

function full(error: unknown): "EMQFULL" {
  if (!isEchoMQError(error, "EMQFULL")) throw error;
  return "EMQFULL";
}
