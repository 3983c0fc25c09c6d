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
    { name: "deadline", type: "int", doc: "server ms at which the new leases end" },
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
      name: "claims",
      columns: [
        { name: "token", type: "text", doc: "lease token of runs that stand side by side" },
        {
          name: "count",
          type: "int",
          most: 500,
          doc: "how many of them; the counts of all rows add up to `done`",
        },
      ],
    },
    {
      name: "results",
      columns: [{ name: "value", type: "text", doc: "return value as JSON, empty for undefined" }],
    },
    {
      name: "attempts",
      columns: [
        {
          name: "runs",
          type: "text",
          doc: "attempts made and started as `atm.ats`: a row for each of `done` with `finished`, else none",
        },
      ],
    },
  ],
  reply: {
    type: "record",
    fields: [
      ["statuses", { type: "maybe", of: { type: "list", of: { type: "text" } } }],
      ["claimed", { type: "jobs" }],
      ["hints", { type: "maybe", of: { type: "list", of: { type: "text" } } }],
    ],
  },
  refusals: ["EMQRETRY"],
  writes: true,
  bound: 500,
  repeatable: false,
} as const;
