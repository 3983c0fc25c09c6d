// v1 keys are `raw` groups: their names hang on a prefix that is not the wire's.

// Scripts that change who owns the queue.

export const fence = {
  name: "fence",
  summary:
    "Moves every queue-level v1 key into the vault, leaves a tombstone and stamps the queue, in one step.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [
    { name: "live", kinds: "raw" },
    { name: "vault", kinds: "raw" },
  ],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "run", type: "text", doc: "id of the run" },
    {
      name: "tombstone",
      type: "text",
      doc: "text to stand in the place of v1's meta, empty in place",
    },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 64,
  repeatable: true,
} as const;

export const phase = {
  name: "phase",
  summary: "Changes the phase in the stamp of a run.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "goal", type: "text", doc: "the stamp to set, of the same run" },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const commit = {
  name: "commit",
  summary:
    "Opens the migrated queue for v2 clients: version, stamp, tombstone and marker in one step.",
  fence: "migration",
  keys: ["stamp", "meta", "wait", "prioritized", "delayed", "marker"],
  groups: [
    { name: "tombs", kinds: "raw" },
    { name: "vault", kinds: "raw" },
  ],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "run", type: "text", doc: "id of the run" },
    {
      name: "tombstone",
      type: "text",
      doc: "text to stand in the place of v1's meta, empty in place",
    },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "text" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 64,
  repeatable: true,
} as const;

export const reopen = {
  name: "reopen",
  summary: "Takes a committed queue back into its run, as long as no v2 client has opened it.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [{ name: "tombs", kinds: "raw" }],
  args: [
    { name: "run", type: "text", doc: "id of the run" },
    { name: "goal", type: "text", doc: "the stamp to set" },
    {
      name: "tombstone",
      type: "text",
      doc: "text to stand in the place of v1's meta, empty in place",
    },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "text" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const restore = {
  name: "restore",
  summary: "Renames the vault back and takes tombstone and stamp away, in one step.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [
    { name: "live", kinds: "raw" },
    { name: "vault", kinds: "raw" },
  ],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "holders", type: "int", doc: "how many of the first live keys hold jobs" },
    { name: "overwrite", type: "int", doc: "1 replaces what an intruder wrote since the fence" },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 64,
  repeatable: false,
} as const;

export const repair = {
  name: "repair",
  summary: "Puts back a stamp, and a tombstone, that somebody deleted or wrote over.",
  fence: "migration",
  keys: ["stamp", "meta"],
  groups: [
    { name: "asides", kinds: "raw" },
    { name: "tombs", kinds: "raw" },
  ],
  args: [
    { name: "wanted", type: "text", doc: "the stamp to put back" },
    { name: "version", type: "text", doc: "`version` of v2:meta as it was read, else empty" },
    { name: "migrated", type: "text", doc: "`migrated` of v2:meta as it was read, else empty" },
    {
      name: "tombstone",
      type: "text",
      doc: "text to stand in the place of v1's meta, empty in place",
    },
    { name: "source", type: "text", doc: "what the keys of the run's v1 queue begin with" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE", "EMQRETRY"],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const retire = {
  name: "retire",
  summary: "Closes a v2 queue before its keys are removed, or takes its last two keys away.",
  fence: "migration",
  keys: ["stamp", "meta", "active"],
  groups: [],
  args: [
    {
      name: "own",
      type: "text",
      doc: "the stamp as it must stand, `echomq:migrating:<run>:<phase>`",
    },
    { name: "step", type: "text", doc: "close or end" },
  ],
  tables: [],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 1,
  repeatable: true,
} as const;

export const journal = {
  name: "journal",
  summary:
    "Writes the journal of a run: its phase only goes on, and a run that rests is never woken up.",
  fence: "migration",
  keys: ["reserve:migration"],
  groups: [],
  args: [
    { name: "run", type: "text", doc: "id of the run" },
    { name: "phase", type: "text", doc: "phase the run is in" },
    { name: "step", type: "text", doc: "write or forget" },
    {
      name: "over",
      type: "text",
      doc: "run and phase of the journal that is replaced, empty for none",
    },
  ],
  tables: [
    {
      name: "rows",
      columns: [
        { name: "field", type: "text", doc: "field of the journal" },
        { name: "value", type: "text", doc: "its value" },
      ],
    },
  ],
  reply: { type: "int" },
  refusals: ["EMQSTATE"],
  writes: true,
  bound: 64,
  repeatable: true,
} as const;
