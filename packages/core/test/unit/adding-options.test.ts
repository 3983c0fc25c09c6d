import { describe, expect, expectTypeOf, test } from "vitest";
import type { BulkJob, Job, Queue } from "../../src/index.js";
import { checkDeduplication } from "../../src/options/deduplication.js";
import { checkDefaultJobOptions, checkJobOptions } from "../../src/options/job-options.js";
import {
  checkSchemas,
  isPromise,
  SchemaError,
  type StandardSchemaV1,
  validate,
} from "../../src/options/schema.js";
import { codecOf, JSON_CODEC } from "../../src/options/serializer.js";
import { checkQueueOptions } from "../../src/queue/options.js";

const connection = "redis://127.0.0.1:1";

function refused(work: () => unknown): { option?: string; reason?: string; code?: string } {
  try {
    work();
  } catch (error) {
    return error as { option?: string };
  }
  throw new Error("expected a refusal");
}

describe("deduplication", () => {
  test("what is given, and what that means on the wire", () => {
    expect(checkDeduplication("d", undefined)).toBeUndefined();
    expect(checkDeduplication("d", { id: "x" })).toEqual({ id: "x", ttl: 0, flags: 0 });
    const all = { id: "x", ttl: 315_360_000_000, extend: true, replace: true };
    expect(checkDeduplication("d", all)).toEqual({ id: "x", ttl: 315_360_000_000, flags: 3 });
    const last = { id: "x", keepLastIfActive: true, extend: false };
    expect(checkDeduplication("d", last)).toEqual({ id: "x", ttl: 0, flags: 4 });
  });

  test.each([
    ["d", null],
    ["d", "x"],
    ["d", []],
    ["d.id", {}],
    ["d.id", { id: "" }],
    ["d.id", { id: 5 }],
    ["d.id", { id: "a\u0000" }],
    ["d.id", { id: "x".repeat(513) }],
    ["d.id", { id: "\ud800" }],
    ["d.ttl", { id: "x", ttl: 0 }],
    ["d.ttl", { id: "x", ttl: 1.5 }],
    ["d.ttl", { id: "x", ttl: Number.NaN }],
    ["d.ttl", { id: "x", ttl: "5" }],
    ["d.ttl", { id: "x", ttl: 315_360_000_001 }],
    ["d.extend", { id: "x", extend: true }],
    ["d.extend", { id: "x", ttl: 1, extend: 1 }],
    ["d.replace", { id: "x", replace: "yes" }],
    ["d.keepLastIfActive", { id: "x", keepLastIfActive: null }],
    ["d.tll", { id: "x", tll: 1 }],
  ])("%s is refused, case %#", (option, value) => {
    expect(refused(() => checkDeduplication("d", value))).toMatchObject({
      code: "VALIDATION",
      option,
    });
  });

  test("an unknown key says what was meant", () => {
    expect(refused(() => checkDeduplication("d", { id: "x", extent: true })).reason).toContain(
      "did you mean extend?",
    );
  });
});

describe("run-at, timeout and time to live", () => {
  const soon = Date.now() + 60_000;
  test("a Date and ms mean the same, of any time up to ten years ahead", () => {
    expect(checkJobOptions({ runAt: new Date(soon) }).runAt).toBe(soon);
    expect(checkJobOptions({ runAt: soon }).runAt).toBe(soon);
    expect(checkJobOptions({ runAt: 0 }).runAt).toBe(0);
  });

  test.each([
    ["opts.runAt", { runAt: new Date(Number.NaN) }],
    ["opts.runAt", { runAt: Number.NaN }],
    ["opts.runAt", { runAt: -1 }],
    ["opts.runAt", { runAt: 1.5 }],
    ["opts.runAt", { runAt: "2030-01-01" }],
    ["opts.runAt", { runAt: null }],
    ["opts.runAt", { runAt: {} }],
    ["opts.runAt", { runAt: new Date(Date.now() + 400_000_000_000) }],
    ["opts.runAt", { runAt: soon, delay: 5 }],
    ["opts.timeout", { timeout: 0 }],
    ["opts.timeout", { timeout: 2 ** 31 }],
    ["opts.timeout", { timeout: "1s" }],
    ["opts.ttl", { ttl: -1 }],
    ["opts.ttl", { ttl: Number.POSITIVE_INFINITY }],
  ])("%s is refused, case %#", (option, opts) => {
    expect(refused(() => checkJobOptions(opts as never))).toMatchObject({ option });
  });

  test("of run-at and delay the one given stands over a default of the other", () => {
    const delayed = checkDefaultJobOptions({ delay: 10 });
    expect(checkJobOptions({ runAt: soon }, delayed)).toMatchObject({ delay: 0, runAt: soon });
    const dated = checkDefaultJobOptions({ runAt: soon });
    expect(checkJobOptions({ delay: 7 }, dated)).toMatchObject({ delay: 7, runAt: undefined });
    expect(checkJobOptions(undefined, dated).runAt).toBe(soon);
  });

  test("timeout and ttl are stored, the rest is not", () => {
    const opts = { timeout: 5, ttl: 6, runAt: soon, deduplication: { id: "x" } };
    expect(checkJobOptions(opts).stored).toBe('{"timeout":5,"ttl":6}');
    const defaults = checkDefaultJobOptions({ timeout: 5, deduplication: { id: "x", ttl: 9 } });
    expect(checkJobOptions({}, defaults)).toMatchObject({
      stored: '{"timeout":5}',
      deduplication: { id: "x", ttl: 9, flags: 0 },
    });
  });
});

describe("serialiser", () => {
  const reversed = codecOf({
    serialize: (value: unknown) => [...JSON.stringify(value)].reverse().join(""),
    deserialize: (text: string) => JSON.parse([...text].reverse().join("")),
  });

  test("JSON unless one is given; methods of a class count", () => {
    expect(codecOf(undefined)).toBe(JSON_CODEC);
    expect(reversed.read(reversed.write("data", { a: 1 }))).toEqual({ a: 1 });
    class Plain {
      more = 1;
      serialize = (value: unknown): string => String(value);
      deserialize(text: string): unknown {
        return `${text}${this.more}`;
      }
    }
    expect(codecOf(new Plain()).read("x")).toBe("x1");
  });

  test.each([
    ["serializer", null],
    ["serializer", "json"],
    ["serializer.serialize", {}],
    ["serializer.deserialize", { serialize: () => "" }],
  ])("%s is refused, case %#", (option, value) => {
    expect(refused(() => codecOf(value))).toMatchObject({ option });
  });

  test.each([
    ["throws", () => Promise.reject],
    ["nothing", () => undefined],
    ["empty text", () => ""],
    ["a number", () => 5],
    ["half a character", () => "\ud800"],
  ])("what gives %s refuses the payload", (what, serialize) => {
    const thrower = (): never => {
      throw new Error("no");
    };
    const given = { serialize: what === "throws" ? thrower : serialize, deserialize: () => 1 };
    expect(refused(() => codecOf(given).write("data", 1))).toMatchObject({ option: "data" });
  });

  test("what it cannot read is a typed error with its cause", () => {
    expect(refused(() => reversed.read("{"))).toMatchObject({
      code: "SERIALIZER",
      cause: expect.any(SyntaxError),
    });
  });

  test("size is counted in bytes as stored", () => {
    expect(JSON_CODEC.write("data", "é".repeat(4), 10)).toBe('"éééé"');
    expect(refused(() => JSON_CODEC.write("data", "é".repeat(5), 10))).toMatchObject({
      option: "data",
      reason: "must be at most 10 bytes, serialised, has 12",
    });
    expect(refused(() => reversed.write("data", "xxxxx", 6))).toMatchObject({ option: "data" });
  });
});

describe("schemas", () => {
  const schema = (validateIt: (value: unknown) => unknown): StandardSchemaV1 =>
    ({ "~standard": { version: 1, vendor: "test", validate: validateIt } }) as StandardSchemaV1;

  test("what the schema gives is what counts, at once or later", async () => {
    expect(
      validate(
        schema((value) => ({ value: [value] })),
        "n",
        1,
      ),
    ).toEqual([1]);
    const later = validate(
      schema(async (value) => ({ value: [value] })),
      "n",
      1,
    );
    expect(isPromise(later)).toBe(true);
    expect(await later).toEqual([1]);
  });

  test("issues are listed with their paths", () => {
    const issues = [
      { message: "bad", path: ["to", { key: 0 }, Symbol("s")] },
      { message: "worse" },
      ...Array.from({ length: 9 }, () => ({ message: "x" })),
    ];
    const error = refused(() =>
      validate(
        schema(() => ({ issues })),
        "mail",
        1,
      ),
    );
    expect(error).toBeInstanceOf(SchemaError);
    expect(error).toMatchObject({
      name: "SchemaError",
      code: "VALIDATION",
      option: "data",
      issues,
    });
    expect(error.reason).toMatch(
      /^does not fit the schema of "mail": to\.0\.Symbol\(s\): bad; worse; (?:x; )+x; and 1 more$/,
    );
  });

  test.each([
    ["throws an error", new Error("boom"), "boom"],
    ["throws null", null, "null"],
  ])("a schema that %s refuses, at once or later", async (_, thrown, text) => {
    const message = `the schema threw: ${text}`;
    const broken = schema(() => {
      throw thrown;
    });
    expect(refused(() => validate(broken, "n", 1))).toMatchObject({ issues: [{ message }] });
    const later = validate(
      schema(() => Promise.reject(thrown)),
      "n",
      1,
    );
    await expect(later).rejects.toMatchObject({ issues: [{ message }] });
  });

  test("issues in another shape than a list refuse too", () => {
    expect(
      refused(() =>
        validate(
          schema(() => ({ issues: "x" })),
          "n",
          1,
        ),
      ),
    ).toMatchObject({
      code: "VALIDATION",
    });
  });

  test.each([
    ["schemas", null],
    ["schemas", []],
    ["schemas", "x"],
    ["schemas", { "": schema(() => 1) }],
    ["schemas.a", { a: undefined }],
    ["schemas.a", { a: {} }],
    ["schemas.a", { a: { "~standard": { version: 2, validate: () => 1 } } }],
    ["schemas.a", { a: { "~standard": { version: 1 } } }],
  ])("%s is refused, case %#", (option, value) => {
    expect(refused(() => checkSchemas(value))).toMatchObject({ option });
  });

  test("a schema may be a function, and names of Object's own are names", () => {
    const callable = Object.assign(
      () => 1,
      schema((value) => ({ value })),
    );
    const schemas = checkSchemas({ a: callable });
    expect([...schemas.keys()]).toEqual(["a"]);
    expect(schemas.get("toString")).toBeUndefined();
  });
});

describe("queue options", () => {
  test("defaults, and the size at its edges", () => {
    expect(checkQueueOptions({ connection })).toMatchObject({ maxDataSize: 52_428_800 });
    expect(checkQueueOptions({ connection, maxDataSize: 1 })).toMatchObject({ maxDataSize: 1 });
    for (const maxDataSize of [0, -1, 1.5, "1mb", 52_428_801, null]) {
      const options = { connection, maxDataSize } as never;
      expect(refused(() => checkQueueOptions(options))).toMatchObject({ option: "maxDataSize" });
    }
  });

  test("an unknown one says what was meant", () => {
    const error = refused(() => checkQueueOptions({ connection, serialiser: {} }));
    expect(error.reason).toContain("did you mean serializer?");
  });
});

type Kinds = {
  mail: { data: { to: string }; result: number };
  clean: { data: undefined; result: string };
};

test("add is typed by the map of jobs", () => {
  type Add = Queue<Kinds>["add"];
  type Mail = Job<{ to: string }, number, "mail">;
  const typed = async (queue: Queue<Kinds>): Promise<void> => {
    expectTypeOf(await queue.add("mail", { to: "a" })).toEqualTypeOf<Mail>();
    expectTypeOf(await queue.add("clean", undefined)).toEqualTypeOf<
      Job<undefined, string, "clean">
    >();
    // @ts-expect-error no such job
    await queue.add("male", { to: "a" });
    // @ts-expect-error no such property
    await queue.add("mail", { from: "a" });
    // @ts-expect-error data of another job
    await queue.addBulk([{ name: "mail", data: undefined }]);
    // @ts-expect-error no such option
    await queue.add("mail", { to: "a" }, { dealy: 5 });
  };
  expectTypeOf(typed).toBeFunction();
  expectTypeOf<Parameters<Add>[0]>().toEqualTypeOf<"mail" | "clean">();
  expectTypeOf<BulkJob<Kinds, "mail">["data"]>().toEqualTypeOf<{ to: string }>();
  const untyped = async (queue: Queue): Promise<void> => {
    expectTypeOf((await queue.add("any", { x: 1 })).data).toBeUnknown();
  };
  expectTypeOf(untyped).toBeFunction();
});

describe("options as they were checked last", () => {
  test("are those of the call, whatever was checked before", () => {
    const defaults = { attempts: 2 };
    const stored = (opts: object, over?: object): string =>
      checkJobOptions(opts as never, over as never).stored;
    for (let n = 0; n < 2; n += 1) {
      expect(stored({ attempts: 3 })).toBe('{"attempts":3}');
      expect(stored({ attempts: 3 })).toBe('{"attempts":3}');
      expect(stored({ attempts: 3, removeOnComplete: true })).toContain("removeOnComplete");
      expect(stored({})).toBe("");
      expect(stored({}, defaults)).toBe('{"attempts":2}');
      expect(stored({}, defaults)).toBe('{"attempts":2}');
      expect(stored({}, { attempts: 4 })).toBe('{"attempts":4}');
    }
  });

  test("an object that is changed is another", () => {
    const opts: { attempts: unknown; backoff?: unknown } = { attempts: 3 };
    expect(checkJobOptions(opts as never).stored).toBe('{"attempts":3}');
    opts.attempts = 5;
    expect(checkJobOptions(opts as never).stored).toBe('{"attempts":5}');
    opts.attempts = "5";
    expect(refused(() => checkJobOptions(opts as never))).toMatchObject({
      option: "opts.attempts",
    });
    const deep = { backoff: { type: "fixed", delay: 1 } };
    expect(checkJobOptions(deep as never).stored).toContain('"delay":1');
    deep.backoff.delay = 2;
    expect(checkJobOptions(deep as never).stored).toContain('"delay":2');
  });

  test("a known object with one key more, or what cannot be read, is looked at", () => {
    checkJobOptions({ attempts: 3 });
    const odd = { attempts: 3, atempts: 3 };
    expect(refused(() => checkJobOptions(odd as never))).toMatchObject({ option: "opts.atempts" });
    const hostile = {
      get attempts(): number {
        throw new Error("no");
      },
    };
    expect(refused(() => checkJobOptions(hostile))).toMatchObject({ option: "opts.attempts" });
    const late = { runAt: Date.now() + 315_360_000_000 - 60_000 };
    expect(checkJobOptions(late).runAt).toBe(late.runAt);
  });
});
