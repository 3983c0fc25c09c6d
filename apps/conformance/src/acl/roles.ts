import type { Unit } from "@echomq/wire";
import type { ScriptPackageName } from "./manifest.js";

export const ROLES = ["producer", "worker", "admin", "migrator"] as const;
export type Role = (typeof ROLES)[number];

/** A command that is sent as it is, outside any script. */
export interface PlainCommand {
  /** As the server's access control names it, e.g. `time` or `client|list`. */
  readonly command: string;
  /** The queue's unit it works on, any key of the queue (`v2`), or of the queue on both wires (`both`). */
  readonly on?: "owners" | "marker" | "events" | "v2" | "both";
  readonly mode?: "r" | "rw";
}

/** What a role runs. Commands and keys follow from it. */
export interface RoleSpec {
  readonly package: ScriptPackageName;
  readonly scripts: readonly string[];
  readonly plain: readonly PlainCommand[];
  /** Whether it asks the boot fence. */
  readonly boots: boolean;
}

/** Sent by both clients with every connection. */
const CONNECT: readonly PlainCommand[] = [{ command: "ping" }, { command: "client|setname" }];
/** Server's time, for every lane. */
const CLOCK: readonly PlainCommand[] = [{ command: "time" }];

/** What each role runs, in one place. `init` is in all that may meet a queue nobody has opened. */
export const ROLE_SPECS: Readonly<Record<Role, RoleSpec>> = {
  producer: {
    package: "scripts",
    // `get`: an add whose id stands already answers with the job that stands.
    // What a replaced job leaves the workers' sweep buries.
    scripts: ["init", "add", "get", "node", "holder", "unlock"],
    plain: [...CONNECT, ...CLOCK],
    boots: true,
  },
  worker: {
    package: "scripts",
    scripts: [
      ...["init", "step", "turn", "begin", "finish", "renew", "get"],
      ...["expired", "recover", "promote", "bury", "heartbeat", "count"],
      // What its handlers do with their jobs, and how runs learn that they were cancelled.
      ...["verdicts", "data", "progress", "log", "limit"],
    ],
    plain: [
      ...CONNECT,
      ...CLOCK,
      { command: "bzpopmin", on: "marker", mode: "rw" },
      // Finds what a claim took whose reply was lost.
      { command: "hscan", on: "owners", mode: "r" },
    ],
    boots: true,
  },
  admin: {
    package: "scripts",
    scripts: [
      ...["init", "pause", "get", "capacity", "holder", "unlock"],
      ...["counts", "page", "ranks", "loglines", "metrics", "workers", "limit", "limits"],
    ],
    plain: [...CONNECT, ...CLOCK],
    boots: true,
  },
  migrator: {
    package: "migrate",
    scripts: [
      ...["fence", "phase", "copy", "dedup", "options", "compare", "commit"],
      ...["reopen", "erase", "restore", "purge", "repair", "retire", "journal"],
    ],
    plain: [
      ...CONNECT,
      ...[
        ...["exists", "get", "hget", "hgetall", "hmget", "lindex", "llen", "lrange"],
        ...["memory|usage", "pttl", "type", "zcard", "zmscore", "zrange"],
      ].map((command): PlainCommand => ({ command, on: "both", mode: "r" })),
      // Of the whole server: they need no key, and show names and sizes of other queues' keys.
      ...[{ command: "scan" }, { command: "info" }, { command: "client|list" }],
    ],
    // It looks at where the queue stands by itself.
    boots: false,
  },
};

/** Units at which a migrator looks for a v1 queue of the same name at other prefixes. */
export const V1_TELLING_UNITS: readonly string[] = [
  ...["meta", "id", "wait", "delayed", "completed", "failed", "stalled-check"],
];

export const EXTRAS = ["events", "publish", "doctor"] as const;
export type Extra = (typeof EXTRAS)[number];

/** What a producer, worker or admin may be given besides. */
export const EXTRA_SPECS: Readonly<Record<Extra, Pick<RoleSpec, "scripts" | "plain">>> = {
  /** `QueueEvents`, and waiting for a job's end. */
  events: { scripts: ["tail", "get"], plain: [{ command: "xread", on: "events", mode: "r" }] },
  /** `QueueEventsProducer`. */
  publish: { scripts: ["init", "publish"], plain: [] },
  /** `Queue.doctor`, mending included. */
  doctor: {
    scripts: ["init", "inspect", "mend", "dedups", "expired", "promote", "bury"],
    plain: [
      ...[
        ...["get", "hget", "hscan", "lrange", "pttl", "sscan", "type"],
        ...["zcard", "zrangebyscore", "zscan"],
      ].map((command): PlainCommand => ({ command, on: "v2", mode: "r" })),
      { command: "scan" },
    ],
  },
};

/** Units whose whole keys callers give to a script's `raw` group, `*` for any. All others are v1's. */
export const RAW_ON_V2: Readonly<Record<string, Unit | "*">> = {
  "erase.victims": "*",
  "turn.finished": "completed",
};
