export const limit = {
  name: "limit",
  summary:
    "Sets or lifts a limit of the queue and wakes the workers where it was lifted or raised.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "prioritized", "limiter", "marker"],
  groups: [],
  args: [
    {
      name: "kind",
      type: "text",
      doc: "concurrency: most jobs that run; rate: most that start in a window; hold: none for a while; events: most entries of the stream",
    },
    {
      name: "most",
      type: "int",
      doc: "of concurrency and rate, 0 lifts it; of events, 0 keeps none",
    },
    {
      name: "ms",
      type: "int",
      most: 315_360_000_000,
      doc: "length of the window, or of the hold, where 0 ends it",
    },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const limits = {
  name: "limits",
  summary: "Reads the limits of the queue and how long its rate keeps it from starting more.",
  fence: "step",
  keys: ["stamp", "meta", "limiter"],
  groups: [],
  args: [],
  tables: [],
  reply: {
    type: "record",
    fields: [
      ["concurrency", { type: "maybe", of: { type: "text" } }],
      ["rateMax", { type: "maybe", of: { type: "text" } }],
      ["rateMs", { type: "maybe", of: { type: "text" } }],
      ["count", { type: "maybe", of: { type: "text" } }],
      ["ttl", { type: "int" }],
    ],
  },
  refusals: [],
  writes: false,
  bound: 1,
  repeatable: true,
} as const;
