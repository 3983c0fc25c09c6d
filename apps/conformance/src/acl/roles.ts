import type { Unit } from "@echomq/wire";
import type { ScriptPackageName } from "./manifest.js";

export const ROLES = ["producer", "worker", "admin", "migrator"] as const;
export type Role = (typeof ROLES)[number];

/** A command that is sent as it is, outside any script. */
export interface PlainCommand {
  /** As the server's access control names it, e.g. `time` or `client|list`. */
  readonly command: string;
  /** The queue's unit it works on, any key of the queue (`v2`), or of the queue on both wires (`both`). */
  readonly on?: "owners" | "active" | "marker" | "events" | "v2" | "both";
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
    // `bury`: what a replaced job leaves goes at once.
    scripts: ["init", "add", "push", "get", "node", "bury"],
    plain: [...CONNECT, ...CLOCK],
    boots: true,
  },
  worker: {
    package: "scripts",
    scripts: [
      ...["init", "step", "turn", "begin", "finish", "renew", "get"],
      ...["expired", "recover", "promote", "bury", "heartbeat", "count"],
      // Asked all the time: which runs were cancelled, and what is owed to other queues.
      // `ack` puts off what another queue refused.
      ...["verdicts", "owed", "ack"],
    ],
    plain: [
      ...CONNECT,
      ...CLOCK,
      { command: "bzpopmin", on: "marker", mode: "rw" },
      // Finds what a claim took whose reply was lost, and the place of each in it.
      { command: "hscan", on: "owners", mode: "r" },
      { command: "zmscore", on: "active", mode: "r" },
    ],
    boots: true,
  },
  admin: {
    package: "scripts",
    scripts: [
      ...["init", "pause", "get"],
      ...["counts", "page", "ranks", "loglines", "metrics", "workers"],
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

export const EXTRAS = [
  "events",
  "publish",
  "doctor",
  "handlers",
  "cancel",
  "limits",
  "dedup",
  "jobs",
  "letters",
  "redrive",
] as const;
export type Extra = (typeof EXTRAS)[number];

/** What is added to a role. */
export interface ExtraSpec extends Pick<RoleSpec, "scripts" | "plain"> {
  /** Scripts it runs on the other queues that are named, behind their own boot fence. */
  readonly others?: readonly string[];
}

/** What a producer, worker or admin may be given besides. */
export const EXTRA_SPECS: Readonly<Record<Extra, ExtraSpec>> = {
  /** `QueueEvents`, and waiting for a job's end. */
  events: { scripts: ["tail", "get"], plain: [{ command: "xread", on: "events", mode: "r" }] },
  /** `QueueEventsProducer`. */
  publish: { scripts: ["init", "publish"], plain: [] },
  /** `Queue.doctor`, mending included. */
  doctor: {
    scripts: [
      ...["init", "inspect", "mend", "dedups", "rescue", "unlock", "expired", "promote", "bury"],
    ],
    plain: [
      ...[
        ...["get", "hget", "hscan", "lrange", "pttl", "sscan", "type"],
        ...["zcard", "zrangebyscore", "zscan"],
      ].map((command): PlainCommand => ({ command, on: "v2", mode: "r" })),
      { command: "scan" },
    ],
  },
  /** What a handler writes of its job. */
  handlers: { scripts: ["data", "progress", "log"], plain: [] },
  /** Ends jobs wherever they stand; the workers bury them. */
  cancel: { scripts: ["cancel"], plain: [] },
  /** Sets and tells the limits of the queue. */
  limits: { scripts: ["limit", "limits", "capacity"], plain: [] },
  /** Tells and frees the records of deduplication. `add` needs none of it. */
  dedup: { scripts: ["holder", "unlock"], plain: [] },
  /** Removes, retries and moves jobs, one by one or all. */
  jobs: {
    scripts: [
      ...["remove", "bury", "retry", "advance", "redelay", "rerank"],
      // `clean`, `drain` and `obliterate`, with what they look at.
      ...["ended", "added", "page", "counts", "purge", "close", "wipe", "unschedule", "expired"],
    ],
    plain: [],
  },
  /** Lets a worker deliver dead letters. */
  letters: { scripts: ["owed", "ack"], plain: [], others: ["init", "add"] },
  /** `Queue.redrive`: brings dead letters back. */
  redrive: {
    scripts: ["page", "get", "remove", "bury"],
    plain: [],
    others: ["init", "retry", "add"],
  },
};

/** Units whose whole keys callers give to a script's `raw` group, `*` for any. All others are v1's. */
export const RAW_ON_V2: Readonly<Record<string, Unit | "*">> = {
  "erase.victims": "*",
  "turn.finished": "completed",
};
