import {
  type CallOf,
  type EncodedCall,
  encodeCall,
  type Script,
  type ScriptSpec,
} from "@echomq/scripts";
import { migratingStamp, tombstone } from "@echomq/wire";
import type { Redis } from "ioredis";
import {
  commitScript,
  compareScript,
  copyScript,
  dedupScript,
  eraseScript,
  fenceScript,
  journalScript,
  optionsScript,
  phaseScript,
  purgeScript,
  reopenScript,
  repairScript,
  restoreScript,
  retireScript,
} from "../../src/generated/bundle.js";
import { v1Keys } from "../../src/v1/keys.js";

/** A call that succeeds in the state it is given. */
export interface ValidCall {
  readonly script: Script;
  readonly call: EncodedCall;
  /** Puts the keys there that the call needs. */
  readonly prepare: (client: Redis) => Promise<unknown>;
}

const Q = "q";
const RUN = "run-1";
const v1 = v1Keys("bull", Q, Q);
const stamp = "emq:{q}:meta";
const meta = "emq:{q}:v2:meta";

const own = (phase: string): string => migratingStamp(RUN, phase);
const text = (state: "moving" | "done"): string => tombstone({ run: RUN, state, q: Q });

async function v1Queue(client: Redis, key: (unit: string) => string): Promise<void> {
  await client
    .pipeline()
    .hset(key("meta"), "version", "bullmq:5.65.1")
    .rpush(key("wait"), "1", "2")
    .zadd(key("delayed"), 4_096_000, "3")
    .hset("bull:q:1", "name", "a", "data", "{}")
    .hset("bull:q:2", "name", "b")
    .hset("bull:q:3", "name", "c", "priority", "5")
    .rpush("bull:q:1:logs", "line")
    .set("bull:q:de:x", "1", "PX", 900_000)
    .exec();
}

const moving =
  (phase: string) =>
  async (client: Redis): Promise<void> => {
    await v1Queue(client, v1.vaulted);
    await client.set(v1.unit("meta"), text("moving"));
    await client.set(stamp, own(phase));
    await client.hset(meta, "migrated", RUN, "source", v1.base, "copied.wait", "0");
  };

const done = async (client: Redis): Promise<void> => {
  await moving("verified")(client);
  await client.set(stamp, "echomq:2.0.0");
  await client.hset(meta, "version", "echomq:2.0.0");
  await client.set(v1.unit("meta"), text("done"));
  await client.hset("emq:{q}:v2:job:1", "name", "a");
};

const job = ["bull:q:1", "bull:q:1:logs", "bull:q:2", "bull:q:2:logs"];

function valid<S extends ScriptSpec>(
  script: Script<S>,
  call: CallOf<S>,
  prepare: ValidCall["prepare"],
): ValidCall {
  return { script, call: encodeCall(script.spec, call), prepare };
}

/** One valid call per script of the migration. */
export const CALLS: readonly ValidCall[] = [
  valid(
    fenceScript,
    {
      q: Q,
      live: v1.live,
      vault: v1.vault,
      args: { source: v1.base, own: own("fence"), run: RUN, tombstone: text("moving") },
    },
    (client) => v1Queue(client, v1.unit),
  ),
  valid(
    phaseScript,
    { q: Q, args: { source: v1.base, own: own("fence"), goal: own("copy") } },
    moving("fence"),
  ),
  valid(
    copyScript,
    {
      q: Q,
      sources: job,
      jobs: ["1", "2"],
      items: [
        { score: "", priority: 0 },
        { score: "", priority: 0 },
      ],
      args: { source: v1.base, own: own("copy"), state: "wait", from: 0, to: 2 },
    },
    moving("copy"),
  ),
  valid(
    copyScript,
    {
      q: Q,
      sources: ["bull:q:3", "bull:q:3:logs"],
      jobs: ["3"],
      items: [{ score: "1000.25", priority: 0 }],
      args: { source: v1.base, own: own("copy"), state: "delayed", from: 0, to: 1 },
    },
    moving("copy"),
  ),
  valid(
    dedupScript,
    { q: Q, sources: ["bull:q:de:x"], records: ["x"], args: { source: v1.base, own: own("copy") } },
    moving("copy"),
  ),
  valid(
    optionsScript,
    {
      q: Q,
      args: { source: v1.base, own: own("copy"), last: 1 },
      rows: [{ field: "paused", value: "1" }],
      minutes: [{ metric: "failed", minute: 29_000_000, count: 3 }],
    },
    moving("copy"),
  ),
  valid(
    compareScript,
    { q: Q, sources: job, jobs: ["1", "2"], args: { source: v1.base, own: own("verify") } },
    moving("verify"),
  ),
  valid(
    commitScript,
    {
      q: Q,
      tombs: [v1.unit("meta")],
      vault: v1.vault,
      args: { source: v1.base, own: own("verified"), run: RUN, tombstone: text("done") },
    },
    moving("verified"),
  ),
  valid(
    reopenScript,
    {
      q: Q,
      tombs: [v1.unit("meta")],
      args: { source: v1.base, run: RUN, goal: own("rollback"), tombstone: text("moving") },
    },
    done,
  ),
  valid(
    eraseScript,
    { q: Q, victims: ["emq:{q}:v2:wait", "emq:{q}:v2:job:1"], args: { own: own("rollback") } },
    moving("rollback"),
  ),
  valid(
    restoreScript,
    {
      q: Q,
      live: v1.live,
      vault: v1.vault,
      args: { source: v1.base, own: own("rollback"), holders: 11, overwrite: 0 },
    },
    moving("rollback"),
  ),
  valid(
    purgeScript,
    { q: Q, victims: [], args: { source: v1.base, run: RUN, step: "start" } },
    done,
  ),
  valid(
    purgeScript,
    { q: Q, victims: ["bull:q:1"], args: { source: v1.base, run: RUN, step: "batch" } },
    async (client) => {
      await done(client);
      await client.hset(meta, "migrated", `${RUN} purging`);
    },
  ),
  valid(
    repairScript,
    {
      q: Q,
      asides: ["bull:q:emq-vault:intruder:1"],
      tombs: [v1.unit("meta")],
      args: {
        source: v1.base,
        wanted: "echomq:2.0.0",
        version: "echomq:2.0.0",
        migrated: RUN,
        tombstone: text("done"),
      },
    },
    async (client) => {
      await done(client);
      await client.del(stamp, v1.unit("meta"));
    },
  ),
  valid(retireScript, { q: Q, args: { own: own("remove"), step: "close" } }, done),
  valid(retireScript, { q: Q, args: { own: own("remove"), step: "end" } }, moving("remove")),
  valid(
    journalScript,
    {
      q: Q,
      args: { run: RUN, phase: "copy", step: "write", over: "" },
      rows: [{ field: "jobs", value: "3" }],
    },
    (client) => client.hset("{emq}:migration:q", "run", RUN, "phase", "fence"),
  ),
];
