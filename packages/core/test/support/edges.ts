import { expect, test } from "vitest";
import { refusal } from "./until.js";

/** One argument or option: how it is given, what names it, and which values are what. */
export interface Edge {
  readonly what: string;
  /** Gives the value; throws or rejects. */
  readonly give: (value: never) => unknown;
  /** What a refusal names. */
  readonly option: string;
  readonly values: Values;
}

export interface Values {
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

/** What is none of what options take. A value that counts as not given is no case of it. */
const NOTHING: readonly unknown[] = [null, Symbol("x"), () => 1, 5n, new Map(), /x/];

function circular(): unknown {
  const one: Record<string, unknown> = {};
  one.self = one;
  return one;
}

const NOT_NUMBERS = [...NOTHING, "", "5", true, [], [1], {}, circular(), new Date(), new Number(1)];
const NUMBERS = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  0,
  0.5,
  1,
  1.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
];

/** A whole number; given where `required` says so. */
export function whole(min: number, max: number, required = false): Values {
  const numbers = [...NUMBERS, min - 1, min, max, max + 1];
  const fits = (n: number): boolean => Number.isInteger(n) && n >= min && n <= max;
  const absent = [undefined];
  return {
    good: [...numbers.filter(fits), ...(required ? [] : absent)],
    bad: [...numbers.filter((n) => !fits(n)), ...NOT_NUMBERS, ...(required ? absent : [])],
  };
}

/** True or false. */
export const FLAG: Values = {
  good: [true, false, undefined],
  bad: [...NOTHING, 0, 1, "", "true", Number.NaN, [], {}, circular()],
};

const NOT_TEXT = [...NOTHING, 0, 1, Number.NaN, true, [], ["x"], {}, circular(), new String("x")];

/** A name or an id of 1 to 512 bytes. */
export function name(required = true): Values {
  const absent = [undefined];
  return {
    good: [
      "x",
      " ",
      "a:b {c}",
      "👩‍🚀",
      "x".repeat(512),
      "é".repeat(256),
      ...(required ? [] : absent),
    ],
    bad: [
      ...NOT_TEXT,
      "",
      "a\u0000b",
      "a\nb",
      "a\u0085b",
      "a\ud800",
      "\udc00",
      "x".repeat(513),
      "é".repeat(257),
      "x".repeat(1_000_000),
      ...(required ? absent : []),
    ],
  };
}

/** The name of a queue. */
export function queue(required = true): Values {
  const absent = [undefined];
  return {
    good: ["q", "{q}", "é".repeat(64), "x".repeat(128), ...(required ? [] : absent)],
    bad: [
      ...NOT_TEXT,
      ...["", "emq", "{emq}", "a:b", "a{b", "{}", " q", "q ", "a\u0000", "a\ud800"],
      "x".repeat(129),
      "é".repeat(65),
      ...(required ? absent : []),
    ],
  };
}

/** One of some words. */
export function oneOf(words: readonly string[], required = false): Values {
  const absent = [undefined];
  return {
    good: [...words, ...(required ? [] : absent)],
    bad: [...NOT_TEXT, "", "x", ...words.map((word) => `${word} `), ...(required ? absent : [])],
  };
}

/** A function. */
export const FUNCTION: Values = {
  good: [() => 1, undefined],
  bad: [null, "x", 1, {}, [], Symbol("x"), circular()],
};

/** A moment. */
export const MOMENT: Values = {
  good: [0, Date.now(), new Date(), new Date(0)],
  bad: [
    ...NOTHING,
    ...["", "2030-01-01", true, [], {}, circular()],
    ...[Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, 2 ** 53, 8_640_000_000_000_001],
    new Date(Number.NaN),
    new Date(-1),
  ],
};

/** What is no object of options. */
export const NO_RECORD: readonly unknown[] = [null, 0, 5, "", "x", true, [], [{}], 5n, Symbol("x")];

function trap(): never {
  throw null;
}

/** How an object of options is given. */
export interface RecordShape {
  /** An object that is right. */
  readonly sample?: Readonly<Record<string, unknown>>;
  /** It must be given. */
  readonly required?: boolean;
  /** A bad value of a key is named by the key alone. */
  readonly bare?: boolean;
}

/**
 * Checks an object of options: what is no object, each key by its own values, a key that cannot be read,
 * and keys that are not known. `at` is what refusals begin with.
 */
export function recordEdges(
  what: string,
  at: string,
  give: (value: never) => unknown,
  keys: Readonly<Record<string, Values>>,
  { sample = {}, required = false, bare = false }: RecordShape = {},
): Edge[] {
  const one = (key: string) => (value: never) => give({ ...sample, [key]: value } as never);
  const getter = (key: string) => () => give(throwing(key, sample) as never);
  const none = {
    ...sample,
    ...Object.fromEntries(Object.keys(keys).map((key) => [key, undefined])),
  };
  return [
    {
      what: `${what} itself`,
      give,
      option: at,
      values: {
        good: [{ ...none, ...sample }, ...(required ? [] : [undefined])],
        bad: [...NO_RECORD, ...(required ? [undefined] : [])],
      },
    },
    {
      what: `${what} that refuses to be looked at`,
      give,
      option: at,
      values: { good: [], bad: [new Proxy({}, { ownKeys: trap })] },
    },
    ...Object.entries(keys).map(([key, values]) => ({
      what: `${what}.${key}`,
      give: one(key),
      option: bare ? key : `${at}.${key}`,
      values,
    })),
    ...Object.keys(keys).flatMap((key) => [
      {
        what: `${what}.${key} whose getter throws`,
        give: getter(key),
        option: `${at}.${key}`,
        values: { good: [], bad: [null] },
      },
      {
        what: `${what}.${key} misspelt`,
        give: one(`${key}x`),
        option: `${at}.${key}x`,
        values: { good: [], bad: [1, null, undefined] },
      },
    ]),
  ];
}

/** An object that throws when a key of it is read. */
export function throwing(key: string, rest: object = {}): object {
  return Object.defineProperty({ ...rest }, key, { enumerable: true, get: trap });
}

/** A key whose own object is checked apart. */
export const ELSEWHERE: Values = { good: [undefined], bad: [] };

/** Makes a test of each row: bad values are refused by name, good ones are met by `accepted`. */
export function testEdges(
  edges: readonly Edge[],
  accepted: (outcome: () => Promise<unknown>) => Promise<void>,
): void {
  test.each(edges.map((edge) => [edge.what, edge] as const))("%s", async (_what, edge) => {
    for (const value of edge.values.bad) {
      const error = await refusal(async () => edge.give(value as never));
      const told = { code: error.code, option: error.option };
      expect(told, describe(value)).toEqual({ code: "VALIDATION", option: edge.option });
      if (edge.what.endsWith("misspelt")) expect(error.message).toContain("did you mean");
    }
    for (const value of edge.values.good) {
      await accepted(async () => edge.give(value as never)).catch((error: unknown) => {
        throw new Error(`${describe(value)} is not accepted`, { cause: error });
      });
    }
  });
}

/** Accepted by an object that is closed: what is right gets so far, and nothing is sent. */
export async function untilClosed(outcome: () => Promise<unknown>): Promise<void> {
  const error = await refusal(outcome);
  expect(error).toMatchObject({ code: "CLOSED" });
}

function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 20));
  if (typeof value !== "object" || value === null) return String(value);
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "an object that refuses all";
  }
}
