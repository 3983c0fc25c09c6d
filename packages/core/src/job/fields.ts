import type { RunField } from "@echomq/scripts";
import { fromJson } from "./payload.js";

/** A job's hash as read from Redis, with no prototype: its keys come from outside. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** Pairs of a `HGETALL` reply as a record. */
export function fieldsOfPairs(pairs: readonly string[]): Fields {
  const fields: Record<string, string> = Object.create(null);
  for (let at = 0; at + 1 < pairs.length; at += 2) fields[pairs[at] ?? ""] = pairs[at + 1] ?? "";
  return fields;
}

/** Values of a claim's or begin's reply as a record: a literal, since one is made for every run. */
export function fieldsOfRun(
  values: readonly (string | null)[],
): Record<RunField, string | undefined> {
  return {
    name: values[0] ?? undefined,
    data: values[1] ?? undefined,
    opts: values[2] ?? undefined,
    timestamp: values[3] ?? undefined,
    atm: values[4] ?? undefined,
    ats: values[5] ?? undefined,
    stc: values[6] ?? undefined,
    priority: values[7] ?? undefined,
    delay: values[8] ?? undefined,
    attemptsMade: values[9] ?? undefined,
    progress: values[10] ?? undefined,
    deid: values[11] ?? undefined,
    parentKey: values[12] ?? undefined,
    rjk: values[13] ?? undefined,
    stacktrace: values[14] ?? undefined,
  };
}

/** Options as last read: jobs of one queue mostly carry the same. */
let last: { readonly text: string; readonly opts: Readonly<Record<string, unknown>> } | undefined;

/** Stored options of a job, for looking only: an object whatever was stored. */
export function storedOptions({ opts: text }: Fields): Readonly<Record<string, unknown>> {
  if (text === undefined || text === "") return NO_OPTIONS;
  if (last?.text !== text) last = { text, opts: parsed(text) };
  return last.opts;
}

const NO_OPTIONS: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * Stored options as users know them, a copy of their own: without what telemetry keeps among them, here
 * and in v1.
 */
export function knownOptions(fields: Fields): Readonly<Record<string, unknown>> {
  const stored = storedOptions(fields);
  for (const name in stored) {
    const value = stored[name];
    // Not to be shared either: read anew, which takes any depth and costs less than a copy of each.
    if (typeof value === "object" && value !== null) return withoutContext(parsed(fields.opts));
  }
  return withoutContext(stored);
}

function withoutContext(opts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { tm: _tm, omc: _omc, ...known } = opts;
  return known;
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> {
  const opts = fromJson(text);
  const known = typeof opts === "object" && opts !== null && !Array.isArray(opts);
  return known ? (opts as Record<string, unknown>) : NO_OPTIONS;
}

/** A number of a field, `fallback` where there is none or it is no number. */
export function numberOf(text: string | undefined, fallback: number): number {
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  return Number.isFinite(value) ? value : fallback;
}

/** A count of a field: a whole number that the wire takes, 0 where there is none. */
export function countOf(text: string | undefined): number {
  const value = Math.floor(numberOf(text, 0));
  return Math.min(Math.max(value, 0), COUNT_MAX);
}

/** Largest count: one more than this and the sum still is a whole number. */
const COUNT_MAX = 2 ** 52;

/** Attempts made so far: `atm`, or `attemptsMade` as v1 3.x and 4.x spelled it. */
export function attemptsMade(fields: Fields): number {
  return countOf(fields.atm ?? fields.attemptsMade);
}
