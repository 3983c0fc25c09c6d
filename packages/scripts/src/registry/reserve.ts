export const node = {
  name: "node",
  summary: "Leases, renews or releases one of the 1 024 node ids that mint job ids.",
  fence: "reserve",
  keys: ["reserve:version", "reserve:nodes"],
  groups: [],
  args: [
    { name: "now", type: "int", doc: "server ms" },
    { name: "ttl", type: "int", doc: "ms the lease lasts, 0 releases it" },
    { name: "token", type: "text", doc: "the process's own token" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQFULL"],
  writes: true,
  bound: 1024,
  repeatable: true,
} as const;
