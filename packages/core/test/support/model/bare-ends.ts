import { type CallOf, type finishScript, RUN_FIELDS, type RunField } from "@echomq/scripts";
import type { Retention } from "../../../src/index.js";
import { type Keep, keepOf } from "./jobs.js";
import type { End, HeldRun, Step } from "./workers.js";

export const ALL: Keep = { count: Number.MAX_SAFE_INTEGER, ageMs: 0 };

interface Options {
  readonly attempts?: number;
  readonly backoff?: { readonly delay: number };
  readonly ttl?: number;
  readonly removeOnComplete?: Retention;
  readonly removeOnFail?: Retention;
}

/** A run of a worker of bare calls. */
export interface BareRun extends HeldRun {
  fields: Partial<Record<RunField, string>> | undefined;
  /** The server knows that it began. */
  marked: boolean;
}

type Row = Omit<CallOf<typeof finishScript.spec>["items"][number], "lock">;

/** An end, ready to be written. */
export interface Item {
  readonly end: End;
  readonly run: BareRun;
  readonly row: Row;
  readonly keep: Keep;
  /** It may ride on `step` and `turn`. */
  readonly plain: boolean;
}

/** The fields of a claim's or begin's reply. */
export function fieldsOf(values: readonly (string | null)[]): Partial<Record<RunField, string>> {
  const pairs = RUN_FIELDS.map((name, at) => [name, values[at]] as const);
  return Object.fromEntries(pairs.filter(([, value]) => typeof value === "string"));
}

export function optionsOf(fields: BareRun["fields"]): Options {
  return fields?.opts ? (JSON.parse(fields.opts) as Options) : {};
}

/** What a worker makes of the way a run ended. */
export function itemOf(end: End): Item {
  const run = end.run as BareRun;
  const {
    attempts = 1,
    backoff: { delay: backoff } = { delay: 0 },
    ...opts
  } = optionsOf(run.fields);
  const made = Number(run.fields?.atm ?? 0);
  const started = Number(run.fields?.ats ?? 0) + 1;
  const row = (how: string, counted: boolean, value: string, delay = 0): Row => {
    const atm = made + (counted ? 1 : 0);
    return { token: run.token, how, atm, ats: started, delay, value, stack: "", letter: "" };
  };
  const is = (one: Row): Item => {
    const { removeOnComplete = false, removeOnFail = false } = opts;
    const kept = keepOf(one.how === "completed" ? removeOnComplete : removeOnFail);
    const keep = kept.count === ALL.count && kept.ageMs === 0 ? ALL : kept;
    const { priority = "0", deid } = run.fields ?? {};
    const plain = one.how === "completed" && priority === "0" && deid === undefined;
    return { end, run, row: one, keep, plain };
  };
  const again = made + 1 < attempts;
  switch (end.how) {
    case "complete":
      return is(row("completed", true, JSON.stringify(end.text)));
    case "fail":
      if (!again) return is(row("failed", true, end.text));
      return is(row(backoff > 0 ? "delay" : "retry", true, end.text, backoff));
    case "fatal":
      return is(row("failed", true, end.text));
    case "doomed":
      return is(row("failed", false, end.text));
    case "later":
      return is(row("delay", false, "", end.delay));
    case "back":
      return is(row("retry", false, ""));
    case "release":
      return is(row("release", false, ""));
  }
}

/** Cuts ends into calls: each has one retention for completed and one for failed jobs. */
export function batchesOf(items: readonly Item[]): Item[][] {
  const batches: Item[][] = [];
  for (const item of items) {
    const last = batches.at(-1);
    const peer = last?.find(({ row }) => row.how === item.row.how);
    const fits = peer?.keep.count === item.keep.count && peer.keep.ageMs === item.keep.ageMs;
    if (last === undefined || (peer !== undefined && !fits)) batches.push([item]);
    else last.push(item);
  }
  return batches;
}

/** The statuses of a call, by its ends. */
export function stepOf(items: readonly Item[], statuses: readonly string[]): Step {
  return items.map(({ end, run }, at) => {
    const status = statuses[at] ?? "";
    if (status !== "ok" && !status.startsWith("EMQSTALE")) {
      throw new Error(`the end of ${run.id} was answered ${status}`);
    }
    return [end, status === "ok"] as const;
  });
}
