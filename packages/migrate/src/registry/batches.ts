// v1 keys are `raw` groups: their names hang on a prefix that is not the wire's.

// Scripts that work through a queue in bounded batches.

export const copy = {
  name: "copy",
  summary:
    "Copies one batch of jobs, hash first and membership second, and moves the cursor of their state.",
  fence: "migration",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "priorities",
    "pc",
    "delayed",
    "completed",
    "failed",
    "extras",
  ],
  groups: [
    { name: "sources", kinds: "raw" },
    { name: "jobs", kinds: ["job", "logs"] },
  ],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "state", type: "text", doc: "wait, paused, prioritized, delayed, completed or failed" },
    { name: "from", type: "int", doc: "where the batch begins in v1's list or set" },
    { name: "to", type: "int", doc: "where it ends, members left out included" },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [
    {
      name: "items",
      columns: [
        { name: "score", type: "text", doc: "score on the v2 wire, empty in a list" },
        { name: "priority", type: "int", doc: "priority, 0 for none" },
      ],
    },
  ],
  reply: {
    type: "record",
    fields: [
      ["cursor", { type: "int" }],
      ["statuses", { type: "list", of: { type: "text" } }],
    ],
  },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const dedup = {
  name: "dedup",
  summary: "Carries deduplication keys with the time they have left.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [
    { name: "sources", kinds: "raw" },
    { name: "records", kinds: ["dedup"] },
  ],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const options = {
  name: "options",
  summary: "Carries the queue's options and its metrics, and notes the end of the copy.",
  fence: "migration",
  keys: ["stamp", "meta", "metrics:completed", "metrics:failed"],
  groups: [],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "last", type: "int", doc: "1 when nothing is left to copy" },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [
    {
      name: "rows",
      columns: [
        { name: "field", type: "text", doc: "option of v2:meta" },
        { name: "value", type: "text", doc: "its value" },
      ],
    },
    {
      name: "minutes",
      columns: [
        { name: "metric", type: "text", doc: "completed or failed" },
        { name: "minute", type: "int", doc: "minutes since 1970" },
        { name: "count", type: "int", doc: "jobs that ended in it" },
      ],
    },
  ],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const compare = {
  name: "compare",
  summary:
    "Compares jobs of both wires field by field and line by line, on the server, byte for byte.",
  fence: "migration",
  keys: ["stamp", "meta", "extras"],
  groups: [
    { name: "sources", kinds: "raw" },
    { name: "jobs", kinds: ["job", "logs"] },
  ],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE"],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const erase = {
  name: "erase",
  summary: "Removes v2 keys of a queue that is rolled back or removed.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [{ name: "victims", kinds: "raw" }],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const purge = {
  name: "purge",
  summary: "Removes v1 keys of a queue whose migration was committed.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [{ name: "victims", kinds: "raw" }],
  args: [
    { name: "run", type: "text", doc: "id of the run" },
    { name: "step", type: "text", doc: "start, batch or done" },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;
