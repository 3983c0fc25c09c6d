import { describe, expect, test } from "vitest";
import type { FenceDecision, FenceProbes, V1Probe } from "../../src/index.js";
import { decideFence, decideV1Guard, stampKey, tombstone } from "../../src/index.js";

type Stamp = FenceProbes["stamp"];
type Meta = V1Probe["meta"];

const NOTHING: FenceProbes = {
  queue: "orders",
  reserveVersion: null,
  stamp: { kind: "none" },
  v2Meta: "none",
  opened: null,
  migration: null,
  v1: [],
};
const STAMP = stampKey("orders");
const V2_META = "emq:{orders}:v2:meta";
const JOURNAL = "{emq}:migration:orders";

const text = (value: string): Stamp & Meta => ({ kind: "string", text: value });
const hash = (version: string | null): Stamp & Meta => ({ kind: "hash", version });
const V2: Partial<FenceProbes> = { stamp: text("echomq:2.0.0"), v2Meta: "hash", opened: "1" };
const moved = (state: "moving" | "done", q = "orders") => tombstone({ run: "r1", state, q });

/** A v1 queue at prefix `bull`, unless another key is given. */
function v1(meta: Meta, bare: readonly string[] = [], metaKey = "bull:orders:meta"): V1Probe {
  return { prefix: "bull", braced: metaKey.includes("{"), metaKey, meta, bare };
}

/** `go <state> <opened>`, or the code, what was found and the key that decided. */
function said(decision: FenceDecision): string {
  return decision.action === "go"
    ? `go ${decision.state}${decision.opened ? " opened" : ""}`
    : `${decision.code} | ${decision.found} | ${decision.probe}`;
}

type Row = readonly [title: string, probes: Partial<FenceProbes>, v2: string, v1Guard: string];

const NONE: Meta = { kind: "none" };
const BULL = "bull:orders:meta";
const running = { run: "r1", phase: "copy" };
const under = `MIGRATION_IN_PROGRESS | run r1, phase copy | ${JOURNAL}`;

const nothing: Row[] = [
  ["nothing at all", {}, "go empty", "go empty"],
  ["a v1 prefix with nothing", { v1: [v1(NONE)] }, "go empty", "go empty"],
  ["only the server's version", { reserveVersion: "echomq:2.0.0" }, "go empty", "go empty"],
];

const v2Queues: Row[] = [
  ["a v2 queue", V2, "go v2 opened", `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`],
  [
    "a newer minor",
    { ...V2, stamp: text("echomq:2.7.1"), reserveVersion: "echomq:2.7.1" },
    "go v2 opened",
    `V2_KEYSPACE | echomq:2.7.1 | ${STAMP}`,
  ],
  [
    "a committed queue nobody opened",
    { ...V2, opened: null },
    "go v2",
    `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`,
  ],
  ["an empty `opened`", { ...V2, opened: "" }, "go v2", `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`],
  [
    "a stamp without v2:meta",
    { stamp: text("echomq:2.0.0") },
    "go v2",
    `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`,
  ],
  [
    "what a refused v1 client of prefix emq leaves beside a stamp",
    {
      ...V2,
      v1: [v1(text("echomq:2.0.0"), ["emq:{orders}:id", "emq:{orders}:stalled-check"], STAMP)],
    },
    "go v2 opened",
    `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`,
  ],
];

const majors: Row[] = [
  [
    "a future major",
    { ...V2, stamp: text("echomq:3.0.0") },
    `MAJOR_MISMATCH | echomq:3.0.0 | ${STAMP}`,
    `V2_KEYSPACE | echomq:3.0.0 | ${STAMP}`,
  ],
  [
    "an earlier major",
    { stamp: text("echomq:1.9.0") },
    `MAJOR_MISMATCH | echomq:1.9.0 | ${STAMP}`,
    `V2_KEYSPACE | echomq:1.9.0 | ${STAMP}`,
  ],
  [
    "a major that begins with 2",
    { stamp: text("echomq:22.0.0") },
    `MAJOR_MISMATCH | echomq:22.0.0 | ${STAMP}`,
    `V2_KEYSPACE | echomq:22.0.0 | ${STAMP}`,
  ],
  [
    "a server of another major, no concern of a v1 queue",
    { reserveVersion: "echomq:3.0.0" },
    "MAJOR_MISMATCH | echomq:3.0.0 | {emq}:version",
    "go empty",
  ],
];

const v1Queues: Row[] = [
  [
    "a v1 queue of bullmq 5",
    { v1: [v1(hash("bullmq:5.65.1"), ["bull:orders:id"])] },
    `V1_KEYSPACE | bullmq:5.65.1 | ${BULL}`,
    "go empty",
  ],
  [
    "a v1 queue of bullmq 6",
    { v1: [v1(hash("bullmq:6.7.0"))] },
    `V1_KEYSPACE | bullmq:6.7.0 | ${BULL}`,
    "go empty",
  ],
  [
    "a v1 meta without a version",
    { v1: [v1(hash(null))] },
    `V1_KEYSPACE | a hash without a version | ${BULL}`,
    "go empty",
  ],
  [
    "only the stalled-check of a v1 worker",
    { v1: [v1(NONE, ["bull:orders:stalled-check"])] },
    "V1_KEYSPACE | v1 keys, no meta | bull:orders:stalled-check",
    "go empty",
  ],
  [
    "several bare v1 keys",
    { v1: [v1(NONE, ["bull:orders:id", "bull:orders:wait"])] },
    "V1_KEYSPACE | v1 keys, no meta | bull:orders:id",
    "go empty",
  ],
  [
    "a v1 queue at the second prefix",
    { v1: [v1(NONE), v1(hash("bullmq:4.18.3"), [], "{bull}:orders:meta")] },
    "V1_KEYSPACE | bullmq:4.18.3 | {bull}:orders:meta",
    "go empty",
  ],
  [
    "prefix emq with a braced name",
    { stamp: hash("bullmq:5.65.1"), v1: [v1(hash("bullmq:5.65.1"), [], STAMP)] },
    `V1_KEYSPACE | bullmq:5.65.1 | ${STAMP}`,
    "go empty",
  ],
  [
    "prefix emq with a braced name, no version",
    { stamp: hash(null) },
    `V1_KEYSPACE | a hash without a version | ${STAMP}`,
    "go empty",
  ],
  [
    "prefix emq with a braced name, a v1 worker alone",
    { v1: [v1(NONE, ["emq:{orders}:stalled-check"], STAMP)] },
    "V1_KEYSPACE | v1 keys, no meta | emq:{orders}:stalled-check",
    "go empty",
  ],
  [
    "a v1 queue beside a v2 queue of the same name",
    { ...V2, v1: [v1(hash("bullmq:5.65.1"))] },
    `V1_KEYSPACE | bullmq:5.65.1 | ${BULL}`,
    `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`,
  ],
];

const intrusions: Row[] = [
  [
    "v2:meta without a stamp",
    { v2Meta: "hash" },
    `V1_INTRUSION | no stamp | ${STAMP}`,
    `V2_KEYSPACE | no stamp | ${STAMP}`,
  ],
  [
    "v2:meta with a v1 hash in the stamp's place",
    { stamp: hash("bullmq:5.65.1"), v2Meta: "hash", opened: "1" },
    `V1_INTRUSION | bullmq:5.65.1 | ${STAMP}`,
    `V2_KEYSPACE | bullmq:5.65.1 | ${STAMP}`,
  ],
  [
    "v2:meta with a hash of no version in the stamp's place",
    { stamp: hash(null), v2Meta: "hash" },
    `V1_INTRUSION | a hash without a version | ${STAMP}`,
    `V2_KEYSPACE | a hash without a version | ${STAMP}`,
  ],
  [
    "v2:meta without a stamp, bare v1 keys beside it",
    { v2Meta: "hash", v1: [v1(NONE, ["emq:{orders}:wait"], STAMP)] },
    `V1_INTRUSION | no stamp | ${STAMP}`,
    `V2_KEYSPACE | no stamp | ${STAMP}`,
  ],
];

const both = (line: string): [string, string] => [line, line];

const foreign: Row[] = [
  [
    "a stamp nobody writes",
    { stamp: text("hello") },
    ...both(`FOREIGN_VERSION | hello | ${STAMP}`),
  ],
  ["an empty stamp", { stamp: text("") }, ...both(`FOREIGN_VERSION | an empty text | ${STAMP}`)],
  [
    "a stamp without a patch",
    { stamp: text("echomq:2.0") },
    ...both(`FOREIGN_VERSION | echomq:2.0 | ${STAMP}`),
  ],
  [
    "a v1 version as the stamp",
    { stamp: text("bullmq:5.65.1") },
    ...both(`FOREIGN_VERSION | bullmq:5.65.1 | ${STAMP}`),
  ],
  [
    "a list as the stamp",
    { stamp: { kind: "other", type: "list" } },
    ...both(`FOREIGN_VERSION | a list | ${STAMP}`),
  ],
  [
    "another program's hash",
    { stamp: hash("other:1") },
    ...both(`FOREIGN_VERSION | other:1 | ${STAMP}`),
  ],
  [
    "another program's hash at a v1 prefix",
    { v1: [v1(hash("bullmq-pro:7.1.0"))] },
    ...both(`FOREIGN_VERSION | bullmq-pro:7.1.0 | ${BULL}`),
  ],
  [
    "a text at the v1 meta that is no tombstone",
    { v1: [v1(text("hello"))] },
    ...both(`FOREIGN_VERSION | hello | ${BULL}`),
  ],
  [
    "a v2 stamp at a v1 prefix",
    { v1: [v1(text("echomq:2.0.0"))] },
    ...both(`FOREIGN_VERSION | echomq:2.0.0 | ${BULL}`),
  ],
  [
    "a list at the v1 meta",
    { v1: [v1({ kind: "other", type: "list" })] },
    ...both(`FOREIGN_VERSION | a list | ${BULL}`),
  ],
  [
    "a server version nobody writes",
    { ...V2, reserveVersion: "2" },
    ...both("FOREIGN_VERSION | 2 | {emq}:version"),
  ],
  [
    "a server version of v1",
    { reserveVersion: "bullmq:5.65.1" },
    ...both("FOREIGN_VERSION | bullmq:5.65.1 | {emq}:version"),
  ],
  [
    "v2:meta of another type",
    { v2Meta: "other" },
    ...both(`FOREIGN_VERSION | a key of another type | ${V2_META}`),
  ],
];

const migrations: Row[] = [
  [
    "a migrating stamp",
    { stamp: text("echomq:migrating:r1:copy") },
    ...both(`MIGRATION_IN_PROGRESS | echomq:migrating:r1:copy | ${STAMP}`),
  ],
  [
    "a migrating stamp without a phase",
    { stamp: text("echomq:migrating:r1"), v2Meta: "hash" },
    ...both(`MIGRATION_IN_PROGRESS | echomq:migrating:r1 | ${STAMP}`),
  ],
  ["a journal under way", { migration: running }, ...both(under)],
  [
    "a journal under way over a v1 queue",
    { migration: running, v1: [v1(hash(null))] },
    ...both(under),
  ],
  ["a journal under way, stamp already v2", { ...V2, migration: running }, ...both(under)],
  ["a journal under way, stamp gone", { v2Meta: "hash", migration: running }, ...both(under)],
  [
    "a moving tombstone",
    { v1: [v1(text(moved("moving")))] },
    ...both(`MIGRATION_IN_PROGRESS | echomq:moved:r1:moving:orders | ${BULL}`),
  ],
  [
    "a moving tombstone beside a v2 stamp",
    { ...V2, v1: [v1(text(moved("moving")))] },
    ...both(`MIGRATION_IN_PROGRESS | echomq:moved:r1:moving:orders | ${BULL}`),
  ],
  [
    "a moving tombstone in the stamp's place",
    { stamp: text(moved("moving", "b")) },
    ...both(`MIGRATION_IN_PROGRESS | echomq:moved:r1:moving:b | ${STAMP}`),
  ],
  ...["committed", "rolled-back"].map(
    (phase): Row => [
      `a journal at rest: ${phase}`,
      { ...V2, migration: { run: "r1", phase } },
      "go v2 opened",
      `V2_KEYSPACE | echomq:2.0.0 | ${STAMP}`,
    ],
  ),
  ...["discover", "plan", "drain"].map(
    (phase): Row => [
      `a journal whose ${phase} has moved nothing: v1 workers must be able to finish`,
      { migration: { run: "r1", phase }, v1: [v1(hash("bullmq:5.65.1"))] },
      `V1_KEYSPACE | bullmq:5.65.1 | ${BULL}`,
      "go empty",
    ],
  ),
];

const tombstones: Row[] = [
  [
    "a migrated queue",
    { ...V2, v1: [v1(text(moved("done")))] },
    "go v2 opened",
    `MIGRATION_TOMBSTONE | echomq:moved:r1:done:orders | ${BULL}`,
  ],
  [
    "a migrated queue where a refused v1 client left keys",
    { ...V2, v1: [v1(text(moved("done")), ["bull:orders:id", "bull:orders:stalled-check"])] },
    "go v2 opened",
    `MIGRATION_TOMBSTONE | echomq:moved:r1:done:orders | ${BULL}`,
  ],
  [
    "a queue that moved under another name",
    { v1: [v1(text(moved("done", "my queue")))] },
    "go empty",
    `MIGRATION_TOMBSTONE | echomq:moved:r1:done:{my queue} | ${BULL}`,
  ],
  [
    "a tombstone in the stamp's place: nothing may be initialised over it",
    { stamp: text(moved("done", "b")) },
    ...both(`MIGRATION_TOMBSTONE | echomq:moved:r1:done:b | ${STAMP}`),
  ],
  [
    "a tombstone at one prefix and a v1 queue at another",
    { ...V2, v1: [v1(text(moved("done"))), v1(hash(null), [], "{bull}:orders:meta")] },
    "V1_KEYSPACE | a hash without a version | {bull}:orders:meta",
    `MIGRATION_TOMBSTONE | echomq:moved:r1:done:orders | ${BULL}`,
  ],
];

const groups = { nothing, v2Queues, majors, v1Queues, intrusions, foreign, migrations, tombstones };

describe.each(Object.entries(groups))("the keyspace holds: %s", (_, rows) => {
  test.each(rows)("%s", (_title, probes, v2, v1Guard) => {
    const all = { ...NOTHING, ...probes };
    expect(said(decideFence(all))).toBe(v2);
    expect(said(decideV1Guard(all))).toBe(v1Guard);
    const braced = { ...all, queue: "{orders}" };
    expect(said(decideFence(braced))).toBe(v2);
    expect(said(decideV1Guard(braced))).toBe(v1Guard);
  });
});

test("each side says what it would have worked with", () => {
  const foreignStamp = { ...NOTHING, stamp: text("hello") };
  expect(decideFence(foreignStamp)).toMatchObject({ expected: "echomq:2.x, or nothing" });
  expect(decideV1Guard(foreignStamp)).toMatchObject({ expected: "bullmq:*, or nothing" });
});

test("shows hostile text escaped and cut to 64 characters", () => {
  const hostile = `a\n\u001b]0;${"x".repeat(1_000_000)}`;
  const places: Partial<FenceProbes>[] = [
    { stamp: text(hostile) },
    { stamp: hash(hostile) },
    { stamp: { kind: "other", type: hostile } },
    { reserveVersion: hostile },
    { v1: [v1(text(hostile))] },
    { v1: [v1(hash(hostile))] },
    { migration: { run: hostile, phase: "copy" } },
  ];
  for (const place of places) {
    const decision = decideFence({ ...NOTHING, ...place });
    if (decision.action === "go") throw new Error("went on");
    expect(decision.found).toContain("a\\n\\u001b]0;xxx");
    expect(decision.found.length).toBeLessThan(90);
  }
});
