export const holder = {
  name: "holder",
  summary: "Names the job that holds each deduplication record, if the record is valid.",
  fence: "step",
  keys: ["stamp", "meta", "trash"],
  groups: [
    { name: "dedups", kinds: ["dedup"] },
    { name: "holders", kinds: ["job"] },
  ],
  args: [],
  tables: [],
  reply: { type: "list", of: { type: "maybe", of: { type: "text" } } },
  refusals: ["EMQRETRY"],
  writes: false,
  bound: 100,
  repeatable: true,
} as const;

export const unlock = {
  name: "unlock",
  summary: "Frees a deduplication record; what it kept back takes its place in line.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "pc",
    "delayed",
    "priorities",
    "held",
    "marker",
    "events",
  ],
  groups: [{ name: "dedups", kinds: ["dedup"] }],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "job", type: "text", doc: "only if this job holds it; empty for whoever does" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 1,
  repeatable: false,
} as const;

export const capacity = {
  name: "capacity",
  summary: "Sets how many jobs may wait in the queue, or lifts the limit.",
  fence: "step",
  keys: ["stamp", "meta"],
  groups: [],
  args: [
    { name: "most", type: "int", doc: "jobs waiting, prioritized and delayed; 0 for no limit" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;
