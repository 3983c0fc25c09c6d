export const owed = {
  name: "owed",
  summary: "Reads effects owed to other queues that are due, oldest first.",
  fence: "step",
  keys: ["stamp", "meta", "outbox", "outbox-due"],
  groups: [],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "limit", type: "int", most: 100, doc: "how many at most" },
  ],
  tables: [],
  reply: {
    type: "list",
    of: {
      type: "record",
      fields: [
        ["effect", { type: "text" }],
        ["payload", { type: "text" }],
      ],
    },
  },
  refusals: [],
  writes: false,
  bound: 100,
  repeatable: true,
} as const;

export const ack = {
  name: "ack",
  summary:
    "Strikes effects that were applied off the outbox, and puts off those that were refused.",
  fence: "step",
  keys: ["stamp", "meta", "outbox", "outbox-due"],
  groups: [],
  args: [],
  tables: [
    {
      name: "items",
      columns: [
        { name: "effect", type: "text", doc: "effect id" },
        { name: "due", type: "int", doc: "when to deliver it next, in server ms; 0: applied" },
      ],
    },
  ],
  reply: { type: "int" },
  refusals: [],
  writes: true,
  bound: 100,
  repeatable: true,
} as const;
