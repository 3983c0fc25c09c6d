export const retry = {
  name: "retry",
  summary: "Puts jobs that ended back in line, behind all others of their priority.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "pc",
    "priorities",
    "completed",
    "failed",
    "marker",
    "events",
  ],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [
    { name: "state", type: "text", doc: "completed or failed: where they must stand" },
    { name: "before", type: "int", doc: "only if they ended by then, in server ms" },
    { name: "reset", type: "int", most: 1, doc: "1: attempts and stalls count from 0 again" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;

export const advance = {
  name: "advance",
  summary:
    "Moves delayed jobs to the back of their line before they are due: those named, or the next ones due.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "prioritized", "pc", "delayed", "priorities", "marker", "events"],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [{ name: "limit", type: "int", most: 500, doc: "the most to move where none is named" }],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["statuses", { type: "list", of: { type: "text" } }],
      ["moved", { type: "int" }],
    ],
  },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;

export const redelay = {
  name: "redelay",
  summary: "Gives delayed jobs another delay, counted from now.",
  fence: "step",
  keys: ["stamp", "meta", "delayed", "marker", "events"],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "delay", type: "int", doc: "ms from now" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: [],
  writes: true,
  bound: 20,
  repeatable: true,
} as const;

export const rerank = {
  name: "rerank",
  summary:
    "Gives jobs in line another priority and place; of delayed ones it changes what they will have.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "pc",
    "delayed",
    "priorities",
    "trash",
    "marker",
    "events",
  ],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [
    { name: "priority", type: "int", most: 2_097_151, doc: "1 is first, 0 for none" },
    { name: "lifo", type: "int", most: 1, doc: "1: ahead of all others of the priority" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 20,
  repeatable: true,
} as const;
