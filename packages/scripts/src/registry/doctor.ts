export const inspect = {
  name: "inspect",
  summary:
    "Tells what is wrong with jobs: each id's place, hash, lease, priority and other keys, in one step.",
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
    "trash",
    "owners",
    "priorities",
    "verdicts",
    "extras",
  ],
  groups: [{ name: "jobs", kinds: ["job", "logs", "deps", "results", "failures"] }],
  args: [
    { name: "walk", type: "int", most: 1, doc: "1: look into wait itself, for at most 10 jobs" },
  ],
  tables: [
    {
      name: "seen",
      columns: [
        { name: "waits", type: "int", most: 3, doc: "how often the caller saw it in wait" },
      ],
    },
  ],
  reply: { type: "list", of: { type: "list", of: { type: "text" } } },
  refusals: [],
  writes: false,
  bound: 100,
  repeatable: true,
} as const;

export const mend = {
  name: "mend",
  summary:
    "Mends what is wrong with a few jobs, by what it sees itself; nothing is done to a healthy one.",
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
    "trash",
    "owners",
    "priorities",
    "verdicts",
    "extras",
    "pc",
    "limiter",
  ],
  groups: [{ name: "jobs", kinds: ["job", "logs", "deps", "results", "failures"] }],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    {
      name: "least",
      type: "int",
      most: 4_294_967_295,
      doc: "highest place of a job in line, below which the sequence must not be; 0 for none",
    },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["faults", { type: "list", of: { type: "list", of: { type: "text" } } }],
      ["mended", { type: "list", of: { type: "text" } }],
    ],
  },
  refusals: [],
  writes: true,
  bound: 10,
  repeatable: true,
} as const;

export const dedups = {
  name: "dedups",
  summary:
    "Finds deduplication records without expiry whose job is gone; removes them when asked to.",
  fence: "step",
  keys: ["stamp", "meta", "trash"],
  groups: [
    { name: "records", kinds: ["dedup"] },
    { name: "jobs", kinds: ["job"] },
  ],
  args: [{ name: "fix", type: "int", most: 1, doc: "1: remove what is stray" }],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: [],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;

export const rescue = {
  name: "rescue",
  summary:
    "Finds jobs that deduplication keeps back although no record names them; puts them in line when asked to.",
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
  groups: [
    { name: "jobs", kinds: ["job"] },
    { name: "records", kinds: ["dedup"] },
  ],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "fix", type: "int", most: 1, doc: "1: put them in line" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;
