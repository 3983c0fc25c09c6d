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
    { name: "claim", type: "int", most: 500, doc: "how many jobs to claim, 0 for none" },
    { name: "lease", type: "int", most: 86_400_000, doc: "length of the new leases in ms" },
    { name: "token", type: "text", doc: "lease token of this claim" },
    {
      name: "begun",
      type: "int",
      most: 500,
      doc: "how many of the claimed start at once, first ones first",
    },
    { name: "hints", type: "int", most: 500, doc: "how many upcoming ids to name" },
  ],
  tables: [
    {
      name: "results",
      columns: [
        { name: "token", type: "text", doc: "lease token of the run" },
        { name: "value", type: "text", doc: "return value as JSON, empty for undefined" },
        {
          name: "runs",
          type: "text",
          doc: "attempts made and started as `atm.ats`, empty for the first of both",
        },
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
