export const init = {
  name: "init",
  summary: "Opens a queue: stamp, v2:meta version and opened in one step.",
  fence: "init",
  keys: ["stamp", "meta"],
  groups: [],
  args: [{ name: "now", type: "int", doc: "server ms, kept as `opened`" }],
  tables: [],
  reply: { type: "text" },
  refusals: [],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const add = {
  name: "add",
  summary: "Adds jobs to wait, prioritized or delayed, each once.",
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
    "extras",
    "active",
    "held",
    "marker",
    "events",
  ],
  groups: [
    { name: "jobs", kinds: ["job"] },
    { name: "namesakes", kinds: ["logs", "deps", "results", "failures"] },
    { name: "dedups", kinds: ["dedup"] },
    { name: "holders", kinds: ["job"] },
  ],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    {
      name: "whole",
      type: "int",
      most: 1,
      doc: "1: refuse all where the limit has no place for one",
    },
  ],
  tables: [
    {
      name: "items",
      columns: [
        { name: "name", type: "text", doc: "job name" },
        { name: "data", type: "text", doc: "payload, serialised" },
        { name: "opts", type: "text", doc: "options as JSON, empty when all are default" },
        { name: "timestamp", type: "int", doc: "server ms at which the caller added it" },
        { name: "delay", type: "int", doc: "ms after timestamp, 0 for none" },
        { name: "priority", type: "int", most: 2_097_151, doc: "1 is first, 0 for none" },
        { name: "flags", type: "int", most: 3, doc: "1: newest first, 2: id given by the caller" },
      ],
    },
    {
      name: "locks",
      columns: [
        {
          name: "item",
          type: "int",
          most: 500,
          doc: "which item has the deduplication id, from 1",
        },
        {
          name: "holder",
          type: "int",
          most: 500,
          doc: "which of `holders` the record names, 0 for none",
        },
        {
          name: "ttl",
          type: "int",
          most: 315_360_000_000,
          doc: "ms the record lasts, 0 until its holder ends",
        },
        {
          name: "flags",
          type: "int",
          most: 7,
          doc: "1: extend, 2: replace, 4: keep the last while active",
        },
      ],
    },
  ],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE", "EMQRETRY", "EMQFULL"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const push = {
  name: "push",
  summary: "Adds plain jobs to the back of the line, with the fewest keys.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "trash", "marker", "events"],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [{ name: "now", type: "int", doc: "server ms at which the caller added them" }],
  tables: [
    {
      name: "items",
      columns: [
        { name: "name", type: "text", doc: "job name" },
        { name: "data", type: "text", doc: "payload, serialised" },
        { name: "opts", type: "text", doc: "options as JSON, empty when all are default" },
      ],
    },
  ],
  // `ok`, or `known` where one of them stands or stood already, and nothing was written.
  reply: { type: "text" },
  refusals: ["EMQRETRY"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const pause = {
  name: "pause",
  summary: "Pauses or resumes a queue; resuming wakes the workers.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "prioritized", "marker", "events"],
  groups: [],
  args: [{ name: "paused", type: "int", most: 1, doc: "1 pauses, 0 resumes" }],
  tables: [],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const counts = {
  name: "counts",
  summary: "Counts the jobs of every state in one step.",
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
  args: [],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["waiting", { type: "int" }],
      ["prioritized", { type: "int" }],
      ["delayed", { type: "int" }],
      ["active", { type: "int" }],
      ["completed", { type: "int" }],
      ["failed", { type: "int" }],
      ["waiting-children", { type: "int" }],
      ["held", { type: "int" }],
      ["paused", { type: "int" }],
    ],
  },
  refusals: [],
  writes: false,
  bound: 1,
  repeatable: true,
} as const;

export const get = {
  name: "get",
  summary: "Reads one job: its fields, its state and, while it runs, its owner.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "prioritized",
    "delayed",
    "active",
    "owners",
    "completed",
    "failed",
    "waiting-children",
    "held",
    "trash",
  ],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [],
  tables: [],
  reply: {
    type: "list",
    of: {
      type: "maybe",
      of: {
        type: "record",
        fields: [
          ["state", { type: "text" }],
          ["owner", { type: "maybe", of: { type: "text" } }],
          ["fields", { type: "list", of: { type: "text" } }],
        ],
      },
    },
  },
  refusals: [],
  writes: false,
  bound: 100,
  repeatable: true,
} as const;

export const bury = {
  name: "bury",
  summary: "Removes every key of jobs that are in trash.",
  fence: "step",
  keys: ["stamp", "meta", "trash", "extras", "held", "priorities"],
  groups: [
    { name: "jobs", kinds: ["job", "logs", "deps", "results", "failures"] },
    { name: "dedups", kinds: ["dedup"] },
  ],
  args: [],
  tables: [
    {
      name: "locks",
      columns: [
        {
          name: "job",
          type: "int",
          most: 100,
          doc: "whose record it is, from 1; a row for each of `dedups`",
        },
      ],
    },
  ],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;
