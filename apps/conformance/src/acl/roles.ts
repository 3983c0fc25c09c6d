import type { ScriptPackageName } from "./manifest.js";

export const ROLES = ["producer", "worker", "admin", "migrator"] as const;
export type Role = (typeof ROLES)[number];

/** A command that is sent as it is, outside any script. */
export interface PlainCommand {
  /** As the server's access control names it, e.g. `time` or `client|list`. */
  readonly command: string;
  /** The queue's unit it works on; `queue` for any key of the queue, v1's included. */
  readonly on?: "owners" | "marker" | "queue";
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
    scripts: ["init", "add", "get", "node"],
    plain: [...CONNECT, ...CLOCK],
    boots: true,
  },
  worker: {
    package: "scripts",
    scripts: [
      ...["init", "step", "begin", "finish", "renew"],
      ...["expired", "recover", "promote", "bury", "get"],
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
    scripts: ["init", "pause", "counts", "get"],
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
      ].map((command): PlainCommand => ({ command, on: "queue", mode: "r" })),
      // Of the whole server: they need no key, and show names and sizes of other queues' keys.
      ...[{ command: "scan" }, { command: "info" }, { command: "client|list" }],
    ],
    // It looks at where the queue stands by itself.
    boots: false,
  },
};

/** Where the whole keys lie that callers give to a script's `raw` group. All others are v1's. */
export const RAW_ON_V2: ReadonlySet<string> = new Set(["erase.victims"]);
