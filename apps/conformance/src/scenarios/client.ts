import { isEchoMQError, stampKey, unitKey } from "@echomq/wire";
import type { Context, Scenario } from "../context.js";
import { Broken, hold, Refused } from "../outcome.js";

const BAD_NAMES = ["", "emq", "a:b", "a{b", " padded", "line\nbreak", "x".repeat(129), "\ud800"];
const BAD_OPTIONS = [
  { jobId: "" },
  { jobId: "x".repeat(513) },
  { jobId: "tab\there" },
  { delay: -1 },
  { delay: Number.NaN },
  { delay: 1.5 },
  { priority: 2 ** 53 },
  { attempts: 0 },
];

async function reader(ctx: Context): Promise<string> {
  const queue = ctx.queue("reader");
  await queue.waitUntilReady();
  const counts = await queue.getJobCounts();
  hold(
    Object.values(counts).every((n) => n === 0),
    `counts are ${JSON.stringify(counts)}`,
  );
  hold((await queue.getJob("none")) === null, "a job was found in a queue nobody wrote to");
  const q = ctx.names.of("reader");
  const made = await ctx.keys.existing([stampKey(q), unitKey(q, "meta")]);
  hold(made.length === 0, `reading created ${made.join(", ")}`);
  return "counts and jobs of a queue nobody wrote to are empty, and no key was made";
}

async function refusedBeforeTheWire(ctx: Context): Promise<string> {
  const queue = ctx.queue("reader");
  await queue.waitUntilReady();
  const sent = ctx.seam.sent.length;
  for (const opts of BAD_OPTIONS) {
    const error: unknown = await queue.add("bad", {}, opts).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    validation(error, JSON.stringify(opts));
  }
  for (const name of BAD_NAMES) {
    const error: unknown = await ctx.tryQueue(name);
    validation(error, `the name ${JSON.stringify(name.slice(0, 20))}`);
  }
  hold(ctx.seam.sent.length === sent, "a bad value caused a command");
  return `${BAD_OPTIONS.length} options and ${BAD_NAMES.length} names refused, no command sent`;
}

function validation(error: unknown, what: string): void {
  if (isEchoMQError(error, "VALIDATION")) return;
  throw new Broken(`${what} was ${error === undefined ? "accepted" : `refused with ${error}`}`);
}

async function engineFloor(ctx: Context): Promise<string> {
  if (ctx.engine instanceof Refused) throw ctx.engine;
  const { name, version, redisVersion } = ctx.engine;
  const [major = 0, minor = 0] = redisVersion.split(".").map(Number);
  hold(
    major > 6 || (major === 6 && minor >= 2),
    `${name} ${version} is compatible with Redis ${redisVersion}, the wire needs 6.2`,
  );
  return `${name} ${version}, compatible with Redis ${redisVersion}`;
}

export const clientScenarios: readonly Scenario[] = [
  { id: "engine.floor", title: "The server is new enough for the wire", run: engineFloor },
  { id: "reader.creates-nothing", title: "A reader creates nothing", run: reader },
  {
    id: "names.refused",
    title: "Bad names and options never reach the wire",
    run: refusedBeforeTheWire,
  },
];
