import { added, close, ended, purge, remove, unschedule, wipe } from "./admin.js";
import { capacity, holder, unlock } from "./dedup.js";
import { dedups, inspect, mend, rescue } from "./doctor.js";
import { publish, tail } from "./events.js";
import { begin, expired, finish, promote, recover, renew, step } from "./lease.js";
import { limit, limits } from "./limits.js";
import { count, heartbeat, loglines, metrics, page, ranks, workers } from "./look.js";
import { cancel, data, log, progress, verdicts } from "./mark.js";
import { advance, redelay, rerank, retry } from "./move.js";
import { ack, owed } from "./outbox.js";
import { add, bury, counts, get, init, pause, push } from "./queue.js";
import { node } from "./reserve.js";
import type { ScriptSpec } from "./spec.js";
import { turn } from "./turn.js";

/** Every script of the wire, by name. */
export const REGISTRY: {
  readonly init: typeof init;
  readonly add: typeof add;
  readonly push: typeof push;
  readonly step: typeof step;
  readonly turn: typeof turn;
  readonly finish: typeof finish;
  readonly begin: typeof begin;
  readonly renew: typeof renew;
  readonly expired: typeof expired;
  readonly recover: typeof recover;
  readonly promote: typeof promote;
  readonly bury: typeof bury;
  readonly pause: typeof pause;
  readonly counts: typeof counts;
  readonly get: typeof get;
  readonly page: typeof page;
  readonly ranks: typeof ranks;
  readonly loglines: typeof loglines;
  readonly count: typeof count;
  readonly metrics: typeof metrics;
  readonly heartbeat: typeof heartbeat;
  readonly workers: typeof workers;
  readonly tail: typeof tail;
  readonly publish: typeof publish;
  readonly inspect: typeof inspect;
  readonly mend: typeof mend;
  readonly dedups: typeof dedups;
  readonly rescue: typeof rescue;
  readonly holder: typeof holder;
  readonly unlock: typeof unlock;
  readonly capacity: typeof capacity;
  readonly remove: typeof remove;
  readonly purge: typeof purge;
  readonly ended: typeof ended;
  readonly added: typeof added;
  readonly retry: typeof retry;
  readonly advance: typeof advance;
  readonly redelay: typeof redelay;
  readonly rerank: typeof rerank;
  readonly cancel: typeof cancel;
  readonly verdicts: typeof verdicts;
  readonly data: typeof data;
  readonly progress: typeof progress;
  readonly log: typeof log;
  readonly owed: typeof owed;
  readonly ack: typeof ack;
  readonly close: typeof close;
  readonly unschedule: typeof unschedule;
  readonly wipe: typeof wipe;
  readonly limit: typeof limit;
  readonly limits: typeof limits;
  readonly node: typeof node;
} = {
  init,
  add,
  push,
  step,
  turn,
  finish,
  begin,
  renew,
  expired,
  recover,
  promote,
  bury,
  pause,
  counts,
  get,
  page,
  ranks,
  loglines,
  count,
  metrics,
  heartbeat,
  workers,
  tail,
  publish,
  inspect,
  mend,
  dedups,
  rescue,
  holder,
  unlock,
  capacity,
  remove,
  purge,
  ended,
  added,
  retry,
  advance,
  redelay,
  rerank,
  cancel,
  verdicts,
  data,
  progress,
  log,
  owed,
  ack,
  close,
  unschedule,
  wipe,
  limit,
  limits,
  node,
};

// Literal types stay above for callers; here the compiler checks that each one is a ScriptSpec.
/** The same scripts, seen as plain data. */
export const SPECS: Readonly<Record<ScriptName, ScriptSpec>> = REGISTRY;

export type ScriptName = keyof typeof REGISTRY;
