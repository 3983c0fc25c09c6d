export const turn = {
  name: "turn",
  summary:
    "One turn of a busy worker: settles completed jobs and claims from wait, with the fewest keys.",
  fence: "step",
  keys: ["stamp", "meta", "wait", "active", "owners", "events"],
  groups: [
    { name: "done", kinds: ["job"] },
    { name: "candidates", kinds: ["job"] },
    { name: "finished", kinds: "raw" },
  ],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "claim", type: "int", doc: "how many jobs to claim, 0 for none" },
    { name: "lease", type: "int", doc: "length of the new leases in ms" },
    { name: "token", type: "text", doc: "lease token of this claim" },
    { name: "hints", type: "int", doc: "how many upcoming ids to name" },
  ],
  tables: [
    {
      name: "results",
      columns: [
        { name: "token", type: "text", doc: "lease token of the run" },
        { name: "value", type: "text", doc: "return value as JSON, empty for undefined" },
      ],
    },
    {
      name: "attempts",
      columns: [
        { name: "atm", type: "int", doc: "attempts made, this one included; only for jobs kept" },
        { name: "ats", type: "int", doc: "attempts started, this one included" },
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
              ["fields", { type: "list", of: { type: "maybe", of: { type: "text" } } }],
            ],
          },
        },
      ],
      ["hints", { type: "list", of: { type: "text" } }],
    ],
  },
  refusals: ["EMQRETRY"],
  writes: true,
  bound: 500,
  repeatable: false,
} as const;
