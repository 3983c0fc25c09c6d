import { isEchoMQError, LIMITS } from "@echomq/wire";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeReply, encodeCall, REGISTRY, type ScriptSpec } from "../../src/index.js";
import type { AnyCall } from "../../src/registry/codec.js";

const SPEC: ScriptSpec = {
  ...REGISTRY.init,
  name: "probe",
  keys: ["stamp", "meta", "reserve:migration", "reserve:nodes"],
  groups: [
    { name: "jobs", kinds: ["job", "logs"] },
    { name: "others", kinds: "raw" },
  ],
  args: [
    { name: "n", type: "int", doc: "" },
    { name: "few", type: "int", most: 3, doc: "" },
    { name: "word", type: "text", doc: "" },
  ],
  tables: [
    {
      name: "rows",
      columns: [
        { name: "k", type: "text", doc: "" },
        { name: "v", type: "int", doc: "" },
        { name: "u", type: "int", doc: "" },
      ],
    },
  ],
  bound: 3,
};

const CALL = {
  q: "q",
  args: { n: 1, few: 2, word: "w" },
  jobs: ["a", "b"],
  others: ["raw:key"],
  rows: [{ k: "x", v: 9, u: 7 }],
};

const encode = (change: object): ReturnType<typeof encodeCall> =>
  encodeCall(SPEC, { ...CALL, ...change } as unknown as AnyCall);

function refused(change: object): { option: string; reason: string } {
  try {
    encode(change);
  } catch (error) {
    if (isEchoMQError(error, "VALIDATION")) return error as never;
    throw error;
  }
  throw new Error("it was taken");
}

describe("encodeCall", () => {
  test("keys: fixed, then groups; arguments: small numbers, single ones, rows", () => {
    expect(encode({})).toEqual({
      keys: [
        "emq:{q}:meta",
        "emq:{q}:v2:meta",
        "{emq}:migration:q",
        "{emq}:nodes",
        "emq:{q}:v2:job:a",
        "emq:{q}:v2:logs:a",
        "emq:{q}:v2:job:b",
        "emq:{q}:v2:logs:b",
        "raw:key",
      ],
      argv: ["002001001002", "1", "w", "9 7", "x"],
    });
  });

  test("empty groups and tables send their zero", () => {
    const { keys, argv } = encode({ jobs: [], others: [], rows: [] });
    expect(keys).toHaveLength(4);
    expect(argv).toEqual(["000000000002", "1", "w"]);
  });

  test.each([0, -0, 1, 2 ** 31, Number.MAX_SAFE_INTEGER])("int takes %d", (n) => {
    expect(encode({ args: { ...CALL.args, n } }).argv[1]).toBe(String(n + 0));
  });

  test.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1,
    1.5,
    2 ** 53,
    "1",
    "",
    null,
    undefined,
    1n,
    true,
    [1],
    {},
  ])("int refuses %s by name", (n) => {
    const error = refused({ args: { ...CALL.args, n } });
    expect(error.option).toBe("probe.n");
    expect(error.reason).toContain("whole number");
    expect(refused({ rows: [{ k: "x", v: n, u: 7 }] }).option).toBe("probe.v");
  });

  test("int refuses more than its most", () => {
    expect(encode({ args: { ...CALL.args, few: 3 } }).argv[0]).toBe("002001001003");
    expect(refused({ args: { ...CALL.args, few: 4 } }).reason).toBe(
      "must be a whole number from 0 to 3",
    );
  });

  test.each(["", " ", "é\u0000\n", "-1", "x".repeat(1_000_000)])(
    "text takes any string",
    (word) => {
      expect(encode({ args: { ...CALL.args, word } }).argv[2]).toBe(word);
    },
  );

  test.each([1, null, undefined, Buffer.from("x"), ["x"]])("text refuses %s", (word) => {
    expect(refused({ args: { ...CALL.args, word } })).toMatchObject({
      option: "probe.word",
      reason: "must be a string",
    });
  });

  test("a list over the bound, or none at all, is refused by name", () => {
    expect(encode({ jobs: ["a", "b", "c"] }).argv[0]).toBe("003001001002");
    expect(refused({ jobs: ["a", "b", "c", "d"] })).toMatchObject({
      option: "probe.jobs",
      reason: "must be a list of at most 3",
    });
    expect(refused({ rows: Array.from({ length: 4 }, () => CALL.rows[0]) }).option).toBe(
      "probe.rows",
    );
    expect(refused({ others: undefined }).option).toBe("probe.others");
    expect(refused({ others: "raw:key" }).option).toBe("probe.others");
  });

  test("ids and queue names that no key may hold are refused", () => {
    for (const id of ["", "a\u0001", "\ud800", "x".repeat(LIMITS.idBytes + 1), 7, null]) {
      expect(() => encode({ jobs: [id] })).toThrow();
    }
    for (const q of ["", "emq", "a}b", "a{b", "x".repeat(LIMITS.queueBytes + 1)]) {
      expect(() => encode({ q })).toThrow();
    }
  });

  test("a thousand queues later the first is still encoded right", () => {
    for (let n = 0; n < 2_100; n++) {
      expect(encode({ q: `q${n}`, others: [] }).keys.at(-1)).toBe(`emq:{q${n}}:v2:logs:b`);
    }
    expect(encode({}).keys[4]).toBe("emq:{q}:v2:job:a");
  });
});

describe("decodeReply", () => {
  const list = { type: "list", of: { type: "text" } } as const;
  const record = {
    type: "record",
    fields: [
      ["a", { type: "int" }],
      ["b", list],
    ],
  } as const;

  test("each shape as declared", () => {
    expect(decodeReply({ type: "text" }, "x")).toBe("x");
    expect(decodeReply({ type: "text" }, 7)).toBe("7");
    expect(decodeReply({ type: "int" }, 7)).toBe(7);
    expect(decodeReply({ type: "maybe", of: { type: "text" } }, null)).toBeNull();
    expect(decodeReply({ type: "maybe", of: { type: "text" } }, "x")).toBe("x");
    expect(decodeReply(list, [])).toEqual([]);
    expect(decodeReply(record, [1, ["x"]])).toEqual({ a: 1, b: ["x"] });
  });

  const jobs = { type: "jobs" } as const;

  test("jobs: each as one text, or its id, how many fields, and the fields", () => {
    expect(decodeReply(jobs, [])).toEqual([]);
    const reply = [
      'a\n{"attempts":3}\nsend\n17\n{"n":1}',
      'b\n{"attempts":3}\nsend\n18\nany\ntext\n',
      "c\n\n\n\n",
      "odd\nid",
      0,
      "d",
      3,
      "x",
      null,
      "2",
      "e\n\nsend\n19\n[]",
    ];
    expect(decodeReply(jobs, reply)).toEqual([
      { id: "a", fields: ["send", '{"n":1}', '{"attempts":3}', "17"] },
      { id: "b", fields: ["send", "any\ntext\n", '{"attempts":3}', "18"] },
      { id: "c", fields: ["", "", null, ""] },
      { id: "odd\nid", fields: [] },
      { id: "d", fields: ["x", null, "2"] },
      { id: "e", fields: ["send", "[]", null, "19"] },
    ]);
  });

  test("jobs of any content come back as they were put together", () => {
    const line = fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", " "));
    const job = fc.record({
      id: line,
      opts: line,
      name: line,
      time: line,
      data: fc.string({ unit: "binary" }),
    });
    fc.assert(
      fc.property(fc.array(job), (list) => {
        const reply = list.map((one) =>
          [one.id, one.opts, one.name, one.time, one.data].join("\n"),
        );
        expect(decodeReply(jobs, reply)).toEqual(
          list.map(({ id, opts, name, time, data }) => ({
            id,
            fields: [name, data, opts === "" ? null : opts, time],
          })),
        );
      }),
    );
  });

  test.each([
    [null],
    ["x"],
    [["a"]],
    [["a\nb\nc\nd"]],
    [["a", 1]],
    [["a", "1", "x"]],
    [["a", -1]],
    [["a", 0.5]],
    [["a", 2, "x"]],
    [["a", 1, ["x"]]],
    [[1, 0, null, 0]],
  ] as const)("jobs of another shape are a TypeError: %j", (reply) => {
    expect(() => decodeReply(jobs, reply)).toThrow(TypeError);
  });

  test("field names of a record stay plain, whatever they are", () => {
    const odd = { type: "record", fields: [["__proto__", { type: "int" }]] } as const;
    const decoded = decodeReply(odd, [1]);
    expect(Object.hasOwn(decoded as object, "__proto__")).toBe(true);
  });

  test.each([
    [{ type: "text" }, null],
    [{ type: "text" }, ["x"]],
    [{ type: "int" }, "7"],
    [{ type: "int" }, null],
    [list, null],
    [list, "x"],
    [list, [null]],
    [record, [1]],
    [record, [1, [], 2]],
    [record, ["1", []]],
  ] as const)("another shape is a TypeError: %j for %j", (spec, reply) => {
    expect(() => decodeReply(spec, reply)).toThrow(TypeError);
  });
});
