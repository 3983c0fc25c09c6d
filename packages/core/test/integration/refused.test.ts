import { dumpAll, startServer, type TestServer } from "@echomq/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Queue, type QueueOptions, Worker, type WorkerOptions } from "../../src/index.js";
import { refusal } from "../support/until.js";

/** Every refused call leaves the server byte-identical: one server, compared after each case. */
let server: TestServer;
let queue: Queue;
let before: Awaited<ReturnType<typeof dumpAll>>;

beforeAll(async () => {
  server = await startServer();
  queue = new Queue("refused", { connection: server.url });
  await queue.add("stands", { a: 1 }, { jobId: "stands" });
  before = await dumpAll(server.url);
});

afterAll(async () => {
  await queue.close();
  await server.stop();
});

const circular: Record<string, unknown> = {};
circular.self = circular;

const BAD_DATA: readonly [string, unknown][] = [
  ["circular", circular],
  ["BigInt", 1n],
  ["BigInt inside", { deep: [1n] }],
  ["a function", () => 1],
  ["a function inside", { f: () => 1 }],
  ["a symbol", Symbol("x")],
  ["NaN", Number.NaN],
  ["Infinity inside", [Number.NEGATIVE_INFINITY]],
  [
    "a throwing toJSON",
    {
      toJSON: () => {
        throw null;
      },
    },
  ],
  ["over 50 MB", "x".repeat(52_428_799)],
];
const BAD_WHOLE: readonly unknown[] = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  1.5,
  "5",
  2 ** 53,
  null,
  [],
  {},
  true,
  5n,
  Symbol("x"),
];
const BAD_TEXT: readonly [string, unknown][] = [
  ["empty", ""],
  ["a number", 7],
  ["null", null],
  ["an object", {}],
  ["513 bytes", "x".repeat(513)],
  ["257 letters of two bytes", "é".repeat(257)],
  ["a control character", "a\u0000b"],
  ["a line break", "a\nb"],
  ["a C1 control", "a\u0085b"],
  ["a lone surrogate", "a\ud800"],
];

type Case = readonly [string, Record<string, unknown>, string];

const cases: Case[] = [
  ...["delay", "priority"].flatMap((name) =>
    BAD_WHOLE.map((value): Case => [`${name} ${String(value)}`, { [name]: value }, `opts.${name}`]),
  ),
  ...[...BAD_WHOLE, 0, 1_000_001].map(
    (value): Case => [`attempts ${String(value)}`, { attempts: value }, "opts.attempts"],
  ),
  ["delay over ten years", { delay: 315_360_000_001 }, "opts.delay"],
  ["priority 2^21", { priority: 2_097_152 }, "opts.priority"],
  ...BAD_TEXT.map(([what, value]): Case => [`jobId ${what}`, { jobId: value }, "opts.jobId"]),
  ...["yes", 1, null].map((lifo): Case => [`lifo ${lifo}`, { lifo }, "opts.lifo"]),
  ...[Number.NaN, -1, 1.5, "5", 2 ** 53].map(
    (backoff): Case => [`backoff ${backoff}`, { backoff }, "opts.backoff"],
  ),
  ["backoff without delay", { backoff: { type: "fixed" } }, "opts.backoff.delay"],
  ["backoff null", { backoff: null }, "opts.backoff"],
  ["backoff of no type", { backoff: { delay: 1 } }, "opts.backoff.type"],
  ["backoff of a misspelt type", { backoff: { type: "exponental" } }, "opts.backoff.type"],
  ["backoff delay NaN", { backoff: { type: "fixed", delay: Number.NaN } }, "opts.backoff.delay"],
  ["jitter over 1", { backoff: { type: "fixed", delay: 1, jitter: 1.1 } }, "opts.backoff.jitter"],
  [
    "jitter NaN",
    { backoff: { type: "fixed", delay: 1, jitter: Number.NaN } },
    "opts.backoff.jitter",
  ],
  ["backoff typo", { backoff: { type: "fixed", delay: 1, jiter: 1 } }, "opts.backoff.jiter"],
  ...["removeOnComplete", "removeOnFail"].flatMap((name): Case[] => [
    [`${name} -1`, { [name]: -1 }, `opts.${name}`],
    [`${name} 1.5`, { [name]: 1.5 }, `opts.${name}`],
    [`${name} text`, { [name]: "all" }, `opts.${name}`],
    [`${name} null`, { [name]: null }, `opts.${name}`],
    [`${name} empty`, { [name]: {} }, `opts.${name}`],
    [`${name} count NaN`, { [name]: { count: Number.NaN } }, `opts.${name}.count`],
    [`${name} age 0`, { [name]: { age: 0 } }, `opts.${name}.age`],
    [`${name} typo`, { [name]: { counts: 1 } }, `opts.${name}.counts`],
  ]),
  ["unknown option", { repeat: {} }, "opts.repeat"],
  ["typo", { removeOnCompleted: true }, "opts.removeOnCompleted"],
];

async function unchanged(work: () => Promise<unknown>, expected: object): Promise<void> {
  expect(await refusal(work)).toMatchObject({ code: "VALIDATION", ...expected });
  expect(await dumpAll(server.url)).toEqual(before);
}

describe("a refused add writes nothing", () => {
  test.each(cases)("%s", async (_what, opts, option) => {
    await unchanged(() => queue.add("x", {}, opts as never), { option });
    const bulk = [
      { name: "ok", data: {} },
      { name: "x", data: {}, opts: opts as never },
    ];
    await unchanged(() => queue.addBulk(bulk), { code: "VALIDATION" });
  });

  test.each(BAD_DATA)("data: %s", async (_what, data) => {
    await unchanged(() => queue.add("x", data), { option: "data" });
  });

  test.each(BAD_TEXT)("name: %s", async (_what, name) => {
    await unchanged(() => queue.add(name as string, {}), { option: "name" });
    await unchanged(() => queue.addBulk([{ name: name as string, data: {} }]), {
      option: "jobs[0].name",
    });
  });

  test.each([null, "jobs", {}, 5])("addBulk of %s", async (jobs) => {
    await unchanged(() => queue.addBulk(jobs as never), { option: "jobs" });
  });

  test.each([[null], [5], ["x"], [[]]])("addBulk of a list with %s", async (job) => {
    await unchanged(() => queue.addBulk([job as never]), { option: "jobs[0]" });
  });

  test.each([[null], [5], ["x"], [[]]])("options that are %s", async (opts) => {
    await unchanged(() => queue.add("x", {}, opts as never), { option: "opts" });
  });

  test.each(BAD_TEXT)("getJob of an id that is %s", async (_what, id) => {
    await unchanged(() => queue.getJob(id as string), { option: "id" });
  });

  test("a typo is told with the option that was meant", async () => {
    const error = await refusal(queue.add("x", {}, { jobid: "a" } as never));
    expect(error.message).toBe("opts.jobid: is not an option; did you mean jobId?");
  });

  test("addBulk of nothing adds nothing", async () => {
    expect(await queue.addBulk([])).toEqual([]);
    expect(await dumpAll(server.url)).toEqual(before);
  });

  test("an id that stands is no second job and changes nothing but the events", async () => {
    const again = await queue.add("other", { b: 2 }, { jobId: "stands", priority: 5 });
    expect(again).toMatchObject({ id: "stands", name: "stands", data: { a: 1 }, priority: 0 });
    const after = await dumpAll(server.url);
    const stream = "emq:{refused}:v2:events";
    for (const map of [before, after]) map.delete(stream);
    expect(after).toEqual(before);
    before = await dumpAll(server.url);
  });
});

const NAMES: readonly [string, unknown][] = [
  ["empty", ""],
  ["emq", "emq"],
  ["an open brace", "a{b"],
  ["braces in the middle", "a{b}c"],
  ["braces around nothing", "{}"],
  ["a colon", "a:b"],
  ["a control character", "a\u0007"],
  ["129 bytes", "x".repeat(129)],
  ["65 letters of two bytes", "é".repeat(65)],
  ["a lone surrogate", "\udc00"],
  ["a leading space", " a"],
  ["a number", 7],
  ["undefined", undefined],
  ["null", null],
];

const CONNECTIONS: readonly [string, unknown, string][] = [
  ["null", null, "connection"],
  ["undefined", undefined, "connection"],
  ["a number", 6379, "connection"],
  ["an array", [], "connection"],
  ["a function", () => 1, "connection"],
  ["no URL", "localhost", "connection"],
  ["another protocol", "http://127.0.0.1:6379", "connection"],
  ["a URL without a host", "redis:///0", "connection"],
  ["a URL with a path", "redis://h/abc", "connection"],
  ["an empty string", "", "connection"],
  ["an empty object", {}, "connection.host"],
  ["a host that is a number", { host: 5 }, "connection.host"],
  ["a host with a space", { host: "a b" }, "connection.host"],
  ["port 0", { host: "h", port: 0 }, "connection.port"],
  ["port text", { host: "h", port: "6379" }, "connection.port"],
  ["port 65536", { host: "h", port: 65_536 }, "connection.port"],
  ["db -1", { host: "h", db: -1 }, "connection.db"],
  ["a password that is a number", { host: "h", password: 5 }, "connection.password"],
  ["a username without a password", { host: "h", username: "u" }, "connection.password"],
  ["tls yes", { host: "h", tls: "yes" }, "connection.tls"],
  ["a typo", { host: "h", prot: 1 }, "connection.prot"],
];

const OPTIONS: readonly [string, Record<string, unknown>, string][] = [
  ...[Number.NaN, -1, 99, 1.5, "5", 3_600_001, null].map(
    (value): [string, Record<string, unknown>, string] => [
      `commandTimeout ${value}`,
      { commandTimeout: value },
      "commandTimeout",
    ],
  ),
  ...[Number.NaN, -1, 1.5, "5", null].map((value): [string, Record<string, unknown>, string] => [
    `retryTime ${value}`,
    { retryTime: value },
    "retryTime",
  ]),
  ["v1Prefixes text", { v1Prefixes: "bull" }, "v1Prefixes"],
  ["v1Prefixes empty text", { v1Prefixes: [""] }, "v1Prefixes[0]"],
  ["v1Prefixes numbers", { v1Prefixes: [5] }, "v1Prefixes[0]"],
];

describe.each([
  [
    "Queue",
    (name: unknown, options: unknown) => new Queue(name as string, options as QueueOptions),
  ],
  [
    "Worker",
    (name: unknown, options: unknown) =>
      new Worker(name as string, () => undefined, options as WorkerOptions),
  ],
])("%s refuses before it connects", (_class, make) => {
  const connection = "redis://127.0.0.1:1";

  test.each(NAMES)("a name: %s", async (_what, name) => {
    expect(await refusal(() => make(name, { connection }))).toMatchObject({
      code: "VALIDATION",
      option: "queue",
    });
  });

  test.each(CONNECTIONS)("a connection: %s", async (_what, option, at) => {
    const error = await refusal(() => make("q", { connection: option }));
    expect(error).toMatchObject({ code: "VALIDATION", option: at });
  });

  test.each(OPTIONS)("%s", async (_what, options, option) => {
    const error = await refusal(() => make("q", { connection, ...options }));
    expect(error).toMatchObject({ code: "VALIDATION", option });
  });

  test.each([[null], [undefined], [5], ["redis://x"], [[]]])(
    "options that are %s",
    async (options) => {
      expect(await refusal(() => make("q", options))).toMatchObject({ option: "options" });
    },
  );

  test("an unknown option, with the one that was meant", async () => {
    const error = await refusal(() => make("q", { connection, retrytime: 1 }));
    expect(error.message).toBe("options.retrytime: is not an option; did you mean retryTime?");
  });
});

test.each([
  ["defaultJobOptions.jobId", { jobId: "x" }],
  ["defaultJobOptions.attempts", { attempts: 0 }],
  ["defaultJobOptions.delay", { delay: Number.NaN }],
  ["defaultJobOptions.attempst", { attempst: 1 }],
  ["defaultJobOptions", null],
])("Queue refuses %s", async (option, defaultJobOptions) => {
  const connection = "redis://127.0.0.1:1";
  const options = { connection, defaultJobOptions: defaultJobOptions as never };
  expect(await refusal(() => new Queue("q", options))).toMatchObject({ option });
});

test.each([
  ...BAD_WHOLE.flatMap((value) =>
    ["concurrency", "lockDuration", "stalledInterval", "maxStalledCount"].map(
      (option) => [option, value] as const,
    ),
  ),
  ["concurrency", 0] as const,
  ["concurrency", 10_001] as const,
  ["lockDuration", 99] as const,
  ["lockDuration", 86_400_001] as const,
  ["maxStalledCount", 1_001] as const,
  ["autorun", "no"] as const,
  ["removeOnComplete", -1] as const,
  ["removeOnFail", {}] as const,
])("Worker refuses %s of %s", async (option, value) => {
  const options = { connection: "redis://127.0.0.1:1", [option]: value } as WorkerOptions;
  expect(await refusal(() => new Worker("q", () => undefined, options))).toMatchObject({ option });
});

test.each([undefined, 5, "handler", {}])("Worker refuses the handler %s", async (handler) => {
  const make = () => new Worker("q", handler as never, { connection: "redis://127.0.0.1:1" });
  expect(await refusal(make)).toMatchObject({ option: "handler" });
});
