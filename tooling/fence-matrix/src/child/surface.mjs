import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SKIPPED, VERBS } from "./verbs.mjs";

/** Files whose declarations say what of a class is private or protected. */
const FILES = {
  Queue: ["queue", "queue-getters", "queue-base"],
  Worker: ["worker", "queue-base"],
  Job: ["job"],
  FlowProducer: ["flow-producer"],
  QueueEvents: ["queue-events", "queue-base"],
  JobScheduler: ["job-scheduler", "queue-base"],
  Repeat: ["repeat", "queue-base"],
  QueueEventsProducer: ["queue-events-producer", "queue-base"],
};

const HIDDEN = /^ {4}(?:private|protected)(?: (?:readonly|static|async|get|set|abstract))* (\w+)/gm;

/** Names of Node's emitter that a class inherits as statics. */
const EMITTER_STATICS = new Set(Object.getOwnPropertyNames(EventEmitter));

const require = createRequire(import.meta.url);

/** What a line offers: the calls to try, those left out with a reason, and those forgotten. */
export function surface(M, alias) {
  const names = new Set(publicNames(M, alias));
  const calls = Object.keys(VERBS).filter((key) => names.has(key.split(":")[0]));
  const tried = new Set(calls.map((key) => key.split(":")[0]));
  const left = [...names].filter((name) => !tried.has(name));
  const reason = (name) => SKIPPED[name.slice(name.indexOf(".") + 1)];
  return {
    calls,
    skipped: left.filter((name) => reason(name)),
    forgotten: left.filter((name) => !reason(name)),
  };
}

function* publicNames(M, alias) {
  for (const [kind, files] of Object.entries(FILES)) {
    const Class = M[kind];
    if (!Class) continue;
    const hidden = hiddenNames(alias, files);
    for (const name of prototypeNames(Class)) if (!hidden.has(name)) yield `${kind}.${name}`;
    for (const name of Object.getOwnPropertyNames(Class)) {
      if (typeof Class[name] !== "function" || hidden.has(name)) continue;
      if (!EMITTER_STATICS.has(name)) yield `${kind}.static ${name}`;
    }
  }
}

function prototypeNames(Class) {
  const names = new Set();
  for (let at = Class.prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (at.constructor.name === "EventEmitter") break;
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return names;
}

function hiddenNames(alias, files) {
  const main = require.resolve(alias);
  const folder = join(dirname(dirname(main)), "esm", "classes");
  const hidden = new Set();
  for (const file of files) {
    const text = readFileSync(join(folder, `${file}.d.ts`), "utf8");
    for (const [, name] of text.matchAll(HIDDEN)) hidden.add(name);
  }
  return hidden;
}
