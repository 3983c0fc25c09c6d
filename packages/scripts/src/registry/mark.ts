export const cancel = {
  name: "cancel",
  summary:
    "Says of jobs that they must end; those not running move to the head of the line to end without a run.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "delayed",
    "active",
    "completed",
    "failed",
    "waiting-children",
    "held",
    "verdicts",
    "marker",
    "events",
  ],
  groups: [],
  args: [{ name: "reason", type: "text", doc: "at most 4 096 bytes" }],
  tables: [{ name: "items", columns: [{ name: "id", type: "text", doc: "job id" }] }],
  reply: { type: "list", of: { type: "text" } },
  refusals: [],
  writes: true,
  bound: 20,
  repeatable: true,
} as const;

export const verdicts = {
  name: "verdicts",
  summary: "Reads why jobs must end.",
  fence: "step",
  keys: ["stamp", "meta", "verdicts"],
  groups: [],
  args: [],
  tables: [{ name: "items", columns: [{ name: "id", type: "text", doc: "job id" }] }],
  reply: { type: "list", of: { type: "maybe", of: { type: "text" } } },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const data = {
  name: "data",
  summary: "Replaces the payload of a job.",
  fence: "step",
  keys: ["stamp", "meta", "owners", "trash"],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [
    {
      name: "token",
      type: "text",
      doc: "lease token of the run that writes, empty when it is no run",
    },
    { name: "data", type: "text", doc: "payload, serialised" },
  ],
  tables: [],
  reply: { type: "text" },
  refusals: [],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const progress = {
  name: "progress",
  summary: "Notes how far a job is and tells it.",
  fence: "step",
  keys: ["stamp", "meta", "owners", "trash", "events"],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [
    {
      name: "token",
      type: "text",
      doc: "lease token of the run that writes, empty when it is no run",
    },
    { name: "progress", type: "text", doc: "progress as JSON" },
  ],
  tables: [],
  reply: { type: "text" },
  refusals: [],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const log = {
  name: "log",
  summary: "Appends lines to a job's log and keeps the last ones.",
  fence: "step",
  keys: ["stamp", "meta", "owners", "trash", "extras"],
  groups: [{ name: "jobs", kinds: ["job", "logs"] }],
  args: [
    {
      name: "token",
      type: "text",
      doc: "lease token of the run that writes, empty when it is no run",
    },
    { name: "keep", type: "int", most: 100_000, doc: "how many lines stay, from 1" },
  ],
  tables: [{ name: "lines", columns: [{ name: "line", type: "text", doc: "one line" }] }],
  reply: {
    type: "record",
    fields: [
      ["status", { type: "text" }],
      ["count", { type: "int" }],
    ],
  },
  refusals: [],
  writes: true,
  bound: 100,
  repeatable: false,
} as const;
