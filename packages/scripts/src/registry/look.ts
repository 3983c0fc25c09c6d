export const page = {
  name: "page",
  summary: "Names ids of one state: a bounded range, oldest or newest first.",
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
  ],
  groups: [],
  args: [
    { name: "state", type: "text", doc: "waiting, prioritized, delayed, active, …" },
    { name: "start", type: "int", most: 1_000_000_000, doc: "place of the first, from 0" },
    { name: "count", type: "int", most: 500, doc: "how many at most" },
    { name: "asc", type: "int", most: 1, doc: "1: oldest, or next to run, first" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const ranks = {
  name: "ranks",
  summary: "Counts the jobs in line of each priority named; 0 counts those without one.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "prioritized"],
  groups: [],
  args: [],
  tables: [
    {
      name: "ranks",
      columns: [{ name: "priority", type: "int", most: 2_097_151, doc: "0 for none" }],
    },
  ],
  reply: { type: "list", of: { type: "int" } },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const loglines = {
  name: "loglines",
  summary:
    "Reads a bounded range of one job's log lines, oldest or newest first, and how many there are.",
  fence: "step",
  keys: ["stamp", "meta", "trash"],
  groups: [{ name: "jobs", kinds: ["logs"] }],
  args: [
    { name: "start", type: "int", most: 1_000_000_000, doc: "place of the first, from 0" },
    { name: "count", type: "int", most: 500, doc: "how many at most" },
    { name: "asc", type: "int", most: 1, doc: "1: oldest first" },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["lines", { type: "list", of: { type: "text" } }],
      ["count", { type: "int" }],
    ],
  },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const count = {
  name: "count",
  summary: "Adds ended jobs to the counts per minute and lets old minutes go, at most 500 a call.",
  fence: "step",
  keys: ["stamp", "meta", "metrics:completed", "metrics:failed"],
  groups: [],
  args: [{ name: "keep", type: "int", most: 1_000_000, doc: "how many minutes to keep" }],
  tables: [
    {
      name: "rows",
      columns: [
        { name: "minute", type: "int", most: 1_000_000_000, doc: "server minutes since 1970" },
        { name: "completed", type: "int", most: 4_294_967_296, doc: "jobs completed in it" },
        { name: "failed", type: "int", most: 4_294_967_296, doc: "jobs failed in it" },
      ],
    },
  ],
  reply: { type: "text" },
  refusals: [],
  writes: true,
  bound: 60,
  repeatable: false,
} as const;

export const metrics = {
  name: "metrics",
  summary: "Reads counts per minute of completed or failed jobs, newest minute first.",
  fence: "step",
  keys: ["stamp", "meta", "metrics:completed", "metrics:failed"],
  groups: [],
  args: [
    { name: "kind", type: "text", doc: "completed or failed" },
    { name: "newest", type: "int", most: 1_000_000_000, doc: "first minute to read" },
    { name: "count", type: "int", most: 500, doc: "how many minutes at most" },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["total", { type: "int" }],
      ["last", { type: "int" }],
      ["lastCount", { type: "int" }],
      ["low", { type: "int" }],
      ["keep", { type: "int" }],
      ["counts", { type: "list", of: { type: "int" } }],
    ],
  },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const heartbeat = {
  name: "heartbeat",
  summary:
    "Notes that a worker lives, and drops those not heard of for long; a ttl of 0 takes the worker out.",
  fence: "step",
  keys: ["stamp", "meta", "workers", "workers-info"],
  groups: [],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "ttl", type: "int", doc: "ms after which a silent worker is dropped, 0 to leave" },
    { name: "id", type: "text", doc: "the worker's own id" },
    { name: "info", type: "text", doc: "what it says about itself, as JSON" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;

export const workers = {
  name: "workers",
  summary: "Names the workers heard of since a time, longest silent first, and counts them.",
  fence: "step",
  keys: ["stamp", "meta", "workers", "workers-info"],
  groups: [],
  args: [
    { name: "since", type: "int", doc: "server ms" },
    { name: "start", type: "int", most: 1_000_000_000, doc: "place of the first, from 0" },
    { name: "count", type: "int", most: 500, doc: "how many at most" },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["count", { type: "int" }],
      [
        "workers",
        {
          type: "list",
          of: {
            type: "record",
            fields: [
              ["id", { type: "text" }],
              ["seenAt", { type: "int" }],
              ["info", { type: "text" }],
            ],
          },
        },
      ],
    ],
  },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;
