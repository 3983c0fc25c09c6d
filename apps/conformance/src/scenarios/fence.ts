import { FenceError, isEchoMQError, queueKeys, stampKey, UNITS, type Unit } from "@echomq/wire";
import type { Context, Scenario } from "../context.js";
import { changed, contentsOf } from "../keys/contents.js";
import type { Label } from "../keys/names.js";
import { Broken, hold } from "../outcome.js";

/** What a scenario plants at a queue, and the code every v2 client must refuse it with. */
interface Planted {
  readonly label: Label;
  readonly code: FenceError["code"];
  readonly plant: (q: string) => readonly string[];
}

/** A queue, a reader and a worker meet what was planted; all refuse and nothing changes. */
async function refusedAtBoot(ctx: Context, { label, code, plant }: Planted): Promise<string> {
  const q = ctx.names.of(label);
  const command = plant(q);
  await ctx.tool.ask(...command);
  const keys = [...unitKeys(q), command[1] ?? ""];
  const before = await contentsOf(ctx.tool, keys);
  const queue = ctx.queue(label);
  expectCode(await errorOf(queue.add("never", {})), code, "Queue.add");
  expectCode(await errorOf(queue.getJobCounts()), code, "Queue.getJobCounts");
  const ends = ctx.worker(label, () => undefined);
  expectCode(await errorOf(ends.worker.waitUntilReady()), code, "Worker");
  const moved = changed(before, await contentsOf(ctx.tool, keys));
  hold(moved.length === 0, `the refused clients changed ${moved.join(", ")}`);
  return `${command.slice(0, 2).join(" ")}: producer, reader and worker refused with ${code}, no key changed`;
}

async function v1Keyspace(ctx: Context): Promise<string> {
  const version = ["version", "bullmq:5.65.1"];
  const plain = await refusedAtBoot(ctx, {
    label: "v1",
    code: "V1_KEYSPACE",
    plant: (q) => ["HSET", `bull:${q}:meta`, ...version],
  });
  await refusedAtBoot(ctx, {
    label: "v1-emq",
    code: "V1_KEYSPACE",
    plant: (q) => ["HSET", stampKey(q), ...version],
  });
  return `${plain}; the same for a v1 queue of prefix emq and a braced name`;
}

/** The stamp changes while a worker runs a job: the next call of each client is refused by its script. */
async function step(ctx: Context): Promise<string> {
  const label = "step";
  const q = ctx.names.of(label);
  const queue = ctx.queue(label);
  let started: () => void = () => undefined;
  let release: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ends = ctx.worker(label, async () => {
    started();
    await held;
    return "must not be written";
  });
  const job = await queue.add("in flight", {});
  await Promise.race([running, ends.fatal.then(fail)]);
  await ctx.tool.ask("SET", stampKey(q), "echomq:3.0.0");
  const keys = [...unitKeys(q), queueKeys(q).kind("job", job.id)];
  const before = await contentsOf(ctx.tool, keys);
  const from = ctx.seam.sent.length;
  expectCode(await errorOf(queue.add("after", {})), "MAJOR_MISMATCH", "Queue.add");
  release();
  expectCode(await ends.fatal, "MAJOR_MISMATCH", "the worker");
  const stepped = ctx.seam.sent.slice(from).filter(({ error }) => error?.startsWith("EMQFENCE "));
  hold(stepped.length >= 2, "the clients were not stopped by a script's own look at the stamp");
  const moved = changed(before, await contentsOf(ctx.tool, keys));
  hold(moved.length === 0, `after the stamp changed, clients wrote ${moved.join(", ")}`);
  return "a producer and a worker with a job in flight were stopped by their next script; nothing was written";
}

async function lostStamp(ctx: Context): Promise<string> {
  const q = ctx.names.of("lost");
  const queue = ctx.queue("lost");
  await queue.add("before", {});
  await ctx.tool.ask("DEL", stampKey(q));
  expectCode(await errorOf(queue.add("after", {})), "V1_INTRUSION", "Queue.add");
  const [made] = await ctx.keys.existing([stampKey(q)]);
  hold(made === undefined, "a client put the stamp back by itself");
  return "a queue whose stamp is gone is refused with V1_INTRUSION until it is repaired";
}

function fail(error: Error): never {
  throw error;
}

function unitKeys(q: string): readonly string[] {
  const keys = queueKeys(q);
  return [keys.stamp, ...(Object.keys(UNITS) as Unit[]).map((unit) => keys.unit(unit))];
}

function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function expectCode(error: unknown, code: FenceError["code"], who: string): void {
  if (isEchoMQError(error, code)) return;
  // A refused right or a lost connection is told as what it is.
  if (error instanceof Error && !(error instanceof FenceError)) throw error;
  const got = error instanceof FenceError ? `was refused with ${error.code}` : "was let through";
  throw new Broken(`${who} ${got}, expected ${code}`);
}

export const fenceScenarios: readonly Scenario[] = [
  {
    id: "fence.v1-keyspace",
    title: "A v1 queue is refused",
    run: v1Keyspace,
  },
  {
    id: "fence.foreign",
    title: "A foreign version is refused",
    run: (ctx) =>
      refusedAtBoot(ctx, {
        label: "foreign",
        code: "FOREIGN_VERSION",
        plant: (q) => ["SET", stampKey(q), "somebody-else:1.0.0"],
      }),
  },
  {
    id: "fence.future-major",
    title: "Another major of the wire is refused",
    run: (ctx) =>
      refusedAtBoot(ctx, {
        label: "major",
        code: "MAJOR_MISMATCH",
        plant: (q) => ["SET", stampKey(q), "echomq:3.0.0"],
      }),
  },
  { id: "fence.step", title: "Every script looks at the stamp", run: step },
  { id: "fence.lost-stamp", title: "A queue without its stamp is refused", run: lostStamp },
];
