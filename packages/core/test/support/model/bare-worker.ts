import {
  beginScript,
  type CallOf,
  Dispatcher,
  finishScript,
  initScript,
  RUN_FIELDS,
  type RunField,
  renewScript,
  stepScript,
  turnScript,
} from "@echomq/scripts";
import { isEchoMQError, unitKey } from "@echomq/wire";
import type { Retention } from "../../../src/index.js";
import { type Keep, keepOf } from "./jobs.js";
import type {
  Claimed,
  ClaimHow,
  End,
  HeldRun,
  ModelWorker,
  Step,
  Turn,
  WorkerParts,
} from "./workers.js";

const ALL: Keep = { count: Number.MAX_SAFE_INTEGER, ageMs: 0 };

interface Options {
  readonly attempts?: number;
  readonly backoff?: { readonly delay: number };
  readonly ttl?: number;
  readonly removeOnComplete?: Retention;
  readonly removeOnFail?: Retention;
}

interface BareRun extends HeldRun {
  fields: Partial<Record<RunField, string>> | undefined;
  /** The server knows that it began. */
  marked: boolean;
}

type Row = Omit<CallOf<typeof finishScript.spec>["items"][number], "lock">;

/** An end, ready to be written. */
interface Item {
  readonly end: End;
  readonly run: BareRun;
  readonly row: Row;
  readonly keep: Keep;
  /** It may ride on `step` and `turn`. */
  readonly plain: boolean;
}

type Reply = {
  readonly statuses: readonly string[];
  readonly claimed: readonly {
    readonly id: string;
    readonly fields: readonly (string | null)[];
    readonly verdict?: string | null;
  }[];
};

/** The calls of a worker, one by one: it settles and claims in one step, and begins or does not. */
export class BareWorker implements ModelWorker {
  readonly runs: BareRun[] = [];
  readonly #parts: WorkerParts;
  readonly #lane: Dispatcher;
  readonly #name: string = process.hrtime.bigint().toString(36);
  #count = 0;

  private constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#lane = Dispatcher.over(parts.driver);
  }

  static async open(parts: WorkerParts): Promise<BareWorker> {
    const worker = new BareWorker(parts);
    await worker.#lane.run(initScript, { q: parts.q, args: { now: worker.#now } });
    return worker;
  }

  get #now(): number {
    return this.#parts.life.clock.now;
  }

  begun(run: HeldRun): boolean {
    return (run as BareRun).fields !== undefined;
  }

  async turn(ends: readonly End[], count: number, how: ClaimHow): Promise<Turn> {
    const items = ends.map((end) => itemOf(end));
    for (const { run } of items) this.#drop(run);
    const before: Step[] = [];
    for (const batch of batchesOf(items.filter(({ plain }) => !plain))) {
      before.push(await this.#finish(batch));
    }
    const plain = batchesOf(items.filter((item) => item.plain));
    // The last of them rides with the claim.
    const last = plain.pop() ?? [];
    for (const batch of plain) before.push((await this.#advance(batch, 0, how)).step);
    if (last.length === 0 && count === 0) return { lean: false, before, claimed: [], after: [] };
    const { lean, step, reply, token } = await this.#advance(last, count, how);
    if (last.length > 0) before.push(step);
    return { lean, before, ...(await this.#begin(reply, token, how)) };
  }

  async renew(run: HeldRun, ms: number): Promise<"renewed" | "lost"> {
    const { id, token } = run;
    const call = { q: this.#parts.q, args: { deadline: this.#now + ms }, leases: [{ id, token }] };
    const { lost } = await this.#lane.run(renewScript, call);
    if (lost.length > 0) this.#drop(run as BareRun);
    return lost.length > 0 ? "lost" : "renewed";
  }

  kill(): void {
    this.#parts.life.kill();
    void this.#parts.driver.close("now");
  }

  async close(): Promise<void> {
    await this.#parts.driver.close("now");
  }

  #drop(run: BareRun): void {
    this.runs.splice(this.runs.indexOf(run), 1);
  }

  async #finish(items: readonly Item[]): Promise<Step> {
    const dedups = [...new Set(items.flatMap(({ run }) => run.fields?.deid ?? []))];
    const keepOfAll = (kind: string): Keep =>
      items.find(({ row }) => row.how === kind)?.keep ?? ALL;
    const [completed, failed] = [keepOfAll("completed"), keepOfAll("failed")];
    const { statuses } = await this.#lane.run(finishScript, {
      q: this.#parts.q,
      jobs: items.map(({ run }) => run.id),
      dedups,
      args: {
        now: this.#now,
        keepCount: completed.count,
        keepAge: completed.ageMs,
        failCount: failed.count,
        failAge: failed.ageMs,
      },
      items: items.map(({ run, row }) => ({
        ...row,
        lock: dedups.indexOf(run.fields?.deid ?? "") + 1,
      })),
    });
    // What is in trash now stays there until somebody sweeps, as after a crash.
    return stepOf(items, statuses);
  }

  async #advance(
    items: readonly Item[],
    claim: number,
    { lean, guess, begun }: ClaimHow,
  ): Promise<{
    readonly lean: boolean;
    readonly step: Step;
    readonly reply: Reply;
    readonly token: string;
  }> {
    const { q, leaseMs } = this.#parts;
    const [now, candidates] = [this.#now, claim > 0 ? guess : []];
    this.#count += 1;
    const token = `${this.#name}.${this.#count}`;
    const keep = items[0]?.keep ?? ALL;
    const done = items.map(({ run }) => run.id);
    // Only `step` trims.
    if (lean && (keep.count === 0 || keep === ALL)) {
      const finished = items.length > 0 && keep === ALL ? [unitKey(q, "completed")] : [];
      const args = { now, claim, lease: leaseMs, token, begun, hints: 4 };
      const results = items.map(({ run, row }) => ({
        token: run.token,
        value: row.value,
        runs: row.atm === 1 && row.ats === 1 ? "" : `${row.atm}.${row.ats}`,
      }));
      try {
        const call = { q, done, candidates, finished, args, results };
        const reply = await this.#lane.run(turnScript, call);
        const statuses = reply.statuses.length > 0 ? reply.statuses : items.map(() => "ok");
        return { lean: true, step: stepOf(items, statuses), reply, token };
      } catch (error) {
        if (!isEchoMQError(error, "EMQRETRY")) throw error;
      }
    }
    const reply = await this.#lane.run(stepScript, {
      q,
      done,
      candidates,
      args: {
        now,
        claim,
        deadline: now + leaseMs,
        token,
        begun,
        hints: 4,
        keepCount: keep.count,
        keepAge: keep.ageMs,
        rateMax: 0,
        rateMs: 0,
      },
      results: items.map(({ row: { token: own, atm, ats, value } }) => ({
        token: own,
        atm,
        ats,
        value,
      })),
    });
    return { lean: false, step: stepOf(items, reply.statuses), reply, token };
  }

  async #begin(
    { claimed }: Reply,
    token: string,
    how: ClaimHow,
  ): Promise<{ readonly claimed: readonly Claimed[]; readonly after: readonly Step[] }> {
    const verdicts = new Map(claimed.map(({ id, verdict }) => [id, verdict ?? null]));
    const runs = claimed.map(({ id, fields }, at): BareRun => {
      const known = fields.length > 0;
      const marked = known && at < how.begun;
      return { id, token, fields: known ? fieldsOf(fields) : undefined, marked };
    });
    this.runs.push(...runs);
    const bare = runs.filter(({ fields }) => fields === undefined);
    if (bare.length > 0 && how.begin) {
      const jobs = bare.map(({ id }) => id);
      const answers = await this.#lane.run(beginScript, {
        q: this.#parts.q,
        jobs,
        args: { token },
      });
      for (const [at, run] of bare.entries()) {
        const { status, verdict, fields } = answers[at] as (typeof answers)[number];
        if (status !== "ok") throw new Error(`begin of ${run.id} answered ${status}`);
        run.fields = fieldsOf(fields);
        run.marked = true;
        verdicts.set(run.id, verdict);
      }
    }
    const doomed = runs.flatMap((run) => {
      const why = verdicts.get(run.id) ?? (this.#late(run) ? "expired" : null);
      if (run.fields === undefined || why === null) return [];
      return [itemOf({ run, how: "doomed", text: why, delay: 0 })];
    });
    for (const { run } of doomed) this.#drop(run);
    const after: Step[] = [];
    for (const batch of batchesOf(doomed)) after.push(await this.#finish(batch));
    const over = new Set(doomed.map(({ run }) => run));
    return {
      claimed: runs.map((run) => ({ run, doomed: over.has(run), begun: run.marked })),
      after,
    };
  }

  /** As a worker judges before it calls the handler. */
  #late({ fields }: BareRun): boolean {
    const { ttl } = optionsOf(fields);
    const { timestamp, delay = "0", ats = "0" } = fields ?? {};
    if (ttl === undefined || ats !== "0") return false;
    return this.#now > Number(timestamp) + Number(delay) + ttl;
  }
}

function fieldsOf(values: readonly (string | null)[]): Partial<Record<RunField, string>> {
  const pairs = RUN_FIELDS.map((name, at) => [name, values[at]] as const);
  return Object.fromEntries(pairs.filter(([, value]) => typeof value === "string"));
}

function optionsOf(fields: BareRun["fields"]): Options {
  return fields?.opts ? (JSON.parse(fields.opts) as Options) : {};
}

/** What a worker makes of the way a run ended. */
function itemOf(end: End): Item {
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
function batchesOf(items: readonly Item[]): Item[][] {
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

function stepOf(items: readonly Item[], statuses: readonly string[]): Step {
  return items.map(({ end, run }, at) => {
    const status = statuses[at] ?? "";
    if (status !== "ok" && !status.startsWith("EMQSTALE")) {
      throw new Error(`the end of ${run.id} was answered ${status}`);
    }
    return [end, status === "ok"] as const;
  });
}
