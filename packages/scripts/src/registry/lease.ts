export const step = {
  name: "step",
  summary: "Settles completed jobs and claims the next ones in one step.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "delayed",
    "active",
    "owners",
    "verdicts",
    "completed",
    "trash",
    "extras",
    "limiter",
    "marker",
    "events",
  ],
  groups: [
    { name: "done", kinds: ["job"] },
    { name: "candidates", kinds: ["job"] },
  ],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "claim", type: "int", most: 500, doc: "how many jobs to claim, 0 for none" },
    { name: "deadline", type: "int", doc: "server ms at which the new leases end" },
    { name: "token", type: "text", doc: "lease token of this claim" },
    {
      name: "begun",
      type: "int",
      most: 500,
      doc: "how many of the claimed start at once, first ones first",
    },
    { name: "hints", type: "int", most: 500, doc: "how many upcoming ids to name" },
    {
      name: "keepCount",
      type: "int",
      doc: "how many completed to keep, 0 removes at once, 2^53-1 all",
    },
    { name: "keepAge", type: "int", doc: "how long to keep completed in ms, 0 for ever" },
    {
      name: "rateMax",
      type: "int",
      doc: "most jobs of a window as this worker knows it, 0 for none",
    },
    {
      name: "rateMs",
      type: "int",
      most: 315_360_000_000,
      doc: "length of that window in ms",
    },
  ],
  tables: [
    {
      name: "results",
      columns: [
        { name: "token", type: "text", doc: "lease token of the run" },
        { name: "atm", type: "int", doc: "attempts made, this one included" },
        { name: "ats", type: "int", doc: "attempts started, this one included" },
        { name: "value", type: "text", doc: "return value as JSON, empty for undefined" },
      ],
    },
  ],
  reply: {
    type: "record",
    fields: [
      ["statuses", { type: "list", of: { type: "text" } }],
      [
        "claimed",
        {
          type: "list",
          of: {
            type: "record",
            fields: [
              ["id", { type: "text" }],
              ["verdict", { type: "maybe", of: { type: "text" } }],
              ["fields", { type: "list", of: { type: "maybe", of: { type: "text" } } }],
            ],
          },
        },
      ],
      ["hints", { type: "list", of: { type: "text" } }],
      ["bury", { type: "list", of: { type: "text" } }],
      ["reason", { type: "text" }],
      ["due", { type: "int" }],
    ],
  },
  refusals: [],
  writes: true,
  bound: 500,
  repeatable: false,
} as const;

export const finish = {
  name: "finish",
  summary: "Ends runs in any way: completed, failed, retried, delayed or given back.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "pc",
    "delayed",
    "priorities",
    "active",
    "owners",
    "verdicts",
    "completed",
    "failed",
    "trash",
    "extras",
    "held",
    "outbox",
    "outbox-due",
    "marker",
    "events",
  ],
  groups: [
    { name: "jobs", kinds: ["job"] },
    { name: "dedups", kinds: ["dedup"] },
  ],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    {
      name: "keepCount",
      type: "int",
      doc: "how many completed to keep, 0 removes at once, 2^53-1 all",
    },
    { name: "keepAge", type: "int", doc: "how long to keep completed in ms, 0 for ever" },
    { name: "failCount", type: "int", doc: "keepCount of failed jobs" },
    { name: "failAge", type: "int", doc: "keepAge of failed jobs" },
  ],
  tables: [
    {
      name: "items",
      columns: [
        { name: "token", type: "text", doc: "lease token of the run" },
        { name: "how", type: "text", doc: "completed, failed, retry, delay or release" },
        { name: "atm", type: "int", doc: "attempts made, this one included" },
        { name: "ats", type: "int", doc: "attempts started, this one included" },
        { name: "delay", type: "int", doc: "ms until due, for delay" },
        { name: "value", type: "text", doc: "return value as JSON, or the failure's reason" },
        { name: "stack", type: "text", doc: "stack traces as a JSON list, empty to leave" },
        { name: "lock", type: "int", most: 500, doc: "which of `dedups` it may hold, 0 for none" },
        { name: "letter", type: "text", doc: "dead letter owed if it failed, empty for none" },
      ],
    },
  ],
  reply: {
    type: "record",
    fields: [
      ["statuses", { type: "list", of: { type: "text" } }],
      ["bury", { type: "list", of: { type: "text" } }],
    ],
  },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 500,
  repeatable: false,
} as const;

export const begin = {
  name: "begin",
  summary: "Starts claimed jobs: verifies the lease and returns their fields.",
  fence: "step",
  keys: ["stamp", "meta", "active", "owners", "verdicts"],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [{ name: "token", type: "text", doc: "lease token of the claim" }],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["statuses", { type: "maybe", of: { type: "list", of: { type: "text" } } }],
      [
        "verdicts",
        { type: "maybe", of: { type: "list", of: { type: "maybe", of: { type: "text" } } } },
      ],
      ["jobs", { type: "jobs" }],
    ],
  },
  refusals: [],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const renew = {
  name: "renew",
  summary: "Moves the deadline of leases that are still owned.",
  fence: "step",
  keys: ["stamp", "meta", "active", "owners", "verdicts"],
  groups: [],
  args: [{ name: "deadline", type: "int", doc: "server ms at which the leases now end" }],
  tables: [
    {
      name: "leases",
      columns: [
        { name: "id", type: "text", doc: "job id" },
        { name: "token", type: "text", doc: "lease token of the run" },
      ],
    },
  ],
  reply: {
    type: "record",
    fields: [
      ["lost", { type: "list", of: { type: "text" } }],
      [
        "verdicts",
        {
          type: "list",
          of: {
            type: "record",
            fields: [
              ["id", { type: "text" }],
              ["why", { type: "text" }],
            ],
          },
        },
      ],
    ],
  },
  refusals: [],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;

export const expired = {
  name: "expired",
  summary:
    "Looks for work of the sweep: leases past their deadline and ids in trash, a marker that nobody armed.",
  fence: "step",
  keys: ["stamp", "meta", "active", "owners", "trash", "wait", "prioritized", "marker", "delayed"],
  groups: [],
  args: [
    { name: "now", type: "int", doc: "server ms from a TIME reply just read" },
    { name: "limit", type: "int", most: 500, doc: "the most of each" },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      [
        "leases",
        {
          type: "list",
          of: {
            type: "record",
            fields: [
              ["id", { type: "text" }],
              ["score", { type: "text" }],
              ["owner", { type: "text" }],
            ],
          },
        },
      ],
      ["trash", { type: "list", of: { type: "text" } }],
      ["unmarked", { type: "int" }],
      ["due", { type: "int" }],
    ],
  },
  refusals: [],
  writes: false,
  bound: 500,
  repeatable: true,
} as const;

export const recover = {
  name: "recover",
  summary: "Puts jobs whose lease expired back in line, ahead of their peers.",
  fence: "step",
  keys: [
    "stamp",
    "meta",
    "wait",
    "prioritized",
    "pc",
    "priorities",
    "active",
    "owners",
    "verdicts",
    "marker",
    "events",
  ],
  groups: [{ name: "jobs", kinds: ["job"] }],
  args: [
    { name: "now", type: "int", doc: "server ms from a TIME reply just read" },
    { name: "budget", type: "int", doc: "how often a job may stall before it must end" },
  ],
  tables: [
    {
      name: "leases",
      columns: [
        { name: "score", type: "text", doc: "score seen in active" },
        { name: "owner", type: "text", doc: "owner seen" },
      ],
    },
  ],
  reply: { type: "list", of: { type: "text" } },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;

export const promote = {
  name: "promote",
  summary:
    "Moves due jobs from delayed to the back of their line; arms a marker that nobody armed.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "prioritized", "pc", "delayed", "priorities", "marker", "events"],
  groups: [],
  args: [
    { name: "now", type: "int", doc: "server ms from a TIME reply just read" },
    { name: "limit", type: "int", most: 500, doc: "the most to move" },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["moved", { type: "int" }],
      ["due", { type: "int" }],
    ],
  },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 500,
  repeatable: true,
} as const;
