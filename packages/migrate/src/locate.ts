import type { Command, Reply } from "@echomq/scripts";
import { type FenceProbes, isEchoMQError, parseVersion, reserveKey } from "@echomq/wire";
import type { Place } from "./command-line.js";
import type { Context } from "./context.js";
import { otherSource } from "./source.js";
import { V1_UNITS } from "./v1/units.js";

/** Where a queue stands. */
export interface Location {
  readonly state: "empty" | "v1" | "moving" | "done" | "v2" | "intruded" | "foreign";
  /** Run named by the stamp, else by `v2:meta`, else by the journal while it is under way. */
  readonly run: string | null;
  /** Phase in the stamp of a queue that moves. */
  readonly phase: string | null;
  readonly stamp: FenceProbes["stamp"];
  readonly v2Meta: FenceProbes["v2Meta"];
  readonly version: string | null;
  readonly opened: string | null;
  /** `<run>`, `<run> purging` or `<run> purged`. */
  readonly migrated: string | null;
  /** What the keys of the v1 queue begin with that the run has closed, as `v2:meta` says it. */
  readonly source: string | null;
  readonly v1Meta: FenceProbes["stamp"];
  /** Queue-level v1 keys that stand in their place, `meta` left out. */
  readonly live: readonly string[];
  /** Units in the vault. */
  readonly vaulted: readonly string[];
  readonly journal: Readonly<Record<string, string>> | null;
  /** The v1 queue the run was started for, when it is not this context's. */
  readonly other: Place | null;
}

/** How often what is read is read again because another process changed it meanwhile. */
export const READS = 5;

/** Reads where a queue stands: two round trips, nothing written. */
export async function locate(ctx: Context): Promise<Location> {
  // Every phase begins here.
  ctx.others = undefined;
  for (let reads = 1; ; reads++) {
    try {
      return await look(ctx);
    } catch (error) {
      // A fence, a commit or a rollback changed a key's type between the two round trips.
      if (!isEchoMQError(error, "WRONGTYPE") || reads === READS) throw error;
    }
  }
}

async function look(ctx: Context): Promise<Location> {
  const { v1, v2 } = ctx;
  const journalKey = reserveKey("migration", ctx.q);
  const read = (commands: readonly Command[]): Promise<readonly Reply[]> =>
    ctx.dispatcher.readMany(commands, { key: v2.stamp }, { op: "migrate locate" });
  const fixed = [v2.stamp, v2.unit("meta"), v1.unit("meta"), journalKey];
  const units = V1_UNITS.slice(1);
  const types = (
    await read([
      ...fixed.map((key) => ["TYPE", key]),
      ...units.map(({ unit }) => ["EXISTS", v1.unit(unit)]),
      ...V1_UNITS.map(({ unit }) => ["EXISTS", v1.vaulted(unit)]),
    ])
  ).map(String);
  const [stampType = "none", metaType = "none", v1Type = "none", journalType = "none"] = types;
  const values = await read([
    versionOf(stampType, v2.stamp),
    metaType === "hash"
      ? ["HMGET", v2.unit("meta"), "version", "opened", "migrated", "source"]
      : ["PING"],
    versionOf(v1Type, v1.unit("meta")),
    journalType === "hash" ? ["HGETALL", journalKey] : ["PING"],
  ]);
  const [version, opened, migrated, source] = metaType === "hash" ? texts(values[1]) : [];
  const there = (at: number): boolean => types[fixed.length + at] === "1";
  const found = {
    stamp: content(stampType, values[0]),
    v2Meta: metaType === "none" ? "none" : metaType === "hash" ? "hash" : "other",
    version: version ?? null,
    opened: opened ?? null,
    migrated: migrated ?? null,
    source: source ?? null,
    v1Meta: content(v1Type, values[2]),
    live: units.filter((_, at) => there(at)).map(({ unit }) => unit),
    vaulted: V1_UNITS.filter((_, at) => there(units.length + at)).map(({ unit }) => unit),
    journal: journalType === "hash" ? pairs(values[3]) : null,
  } as const;
  const at = { ...found, ...judge(found) };
  return { ...at, other: otherSource(ctx, at) };
}

type Found = Omit<Location, "state" | "run" | "phase" | "other">;

function judge(found: Found): Pick<Location, "state" | "run" | "phase"> {
  const own = found.migrated?.split(" ")[0] ?? null;
  const { stamp } = found;
  if (stamp.kind === "string") {
    const version = parseVersion(stamp.text);
    if (version.family === "migrating") {
      return { state: "moving", run: version.run, phase: version.phase };
    }
    if (version.family !== "echomq" || version.major !== 2) {
      return { state: "foreign", run: null, phase: null };
    }
    return { state: own === null ? "v2" : "done", run: own, phase: null };
  }
  if (stamp.kind === "other" || found.v2Meta === "other") {
    return { state: "foreign", run: null, phase: null };
  }
  if (found.v2Meta === "hash") return { state: "intruded", run: own, phase: null };
  const run = found.journal?.run ?? null;
  if (found.v1Meta.kind === "string" || found.v1Meta.kind === "other") {
    return { state: "foreign", run, phase: null };
  }
  const v1 = found.v1Meta.kind === "hash" || found.live.length > 0;
  return { state: v1 ? "v1" : "empty", run, phase: null };
}

function versionOf(type: string, key: string): Command {
  if (type === "string") return ["GET", key];
  return type === "hash" ? ["HGET", key, "version"] : ["PING"];
}

function content(type: string, value: Reply | undefined): FenceProbes["stamp"] {
  const text = typeof value === "string" ? value : null;
  if (type === "none") return { kind: "none" };
  if (type === "hash") return { kind: "hash", version: text };
  return type === "string" ? { kind: "string", text: text ?? "" } : { kind: "other", type };
}

function texts(reply: Reply | undefined): (string | null)[] {
  return Array.isArray(reply) ? reply.map((one) => (typeof one === "string" ? one : null)) : [];
}

/** A flat list of fields and values as an object without a prototype. */
export function pairs(reply: Reply | undefined): Record<string, string> {
  const out: Record<string, string> = Object.create(null);
  const list = Array.isArray(reply) ? reply.map(String) : [];
  for (let at = 0; at + 1 < list.length; at += 2) out[list[at] as string] = list[at + 1] as string;
  return out;
}
