export const tail = {
  name: "tail",
  summary:
    "Reads events behind a place in the stream, with the first and the last place there is, in one step.",
  fence: "step",
  keys: ["stamp", "meta", "events"],
  groups: [],
  args: [
    { name: "after", type: "text", doc: "id of a stream entry" },
    { name: "inclusive", type: "int", most: 1, doc: "1: that entry too" },
    { name: "count", type: "int", most: 100, doc: "how many entries at most, 0 for none" },
  ],
  tables: [],
  reply: {
    type: "record",
    fields: [
      [
        "entries",
        {
          type: "list",
          of: {
            type: "record",
            fields: [
              ["id", { type: "text" }],
              ["pairs", { type: "list", of: { type: "text" } }],
            ],
          },
        },
      ],
      ["first", { type: "text" }],
      ["top", { type: "text" }],
    ],
  },
  refusals: [],
  writes: false,
  bound: 100,
  repeatable: true,
} as const;

export const publish = {
  name: "publish",
  summary: "Tells events of the caller's own, in one stream entry.",
  fence: "step",
  keys: ["stamp", "meta", "events"],
  groups: [],
  args: [],
  tables: [
    {
      name: "messages",
      columns: [
        { name: "name", type: "text", doc: "event name" },
        { name: "payload", type: "text", doc: "payload as JSON" },
      ],
    },
  ],
  reply: { type: "text" },
  refusals: [],
  writes: true,
  bound: 100,
  repeatable: false,
} as const;
