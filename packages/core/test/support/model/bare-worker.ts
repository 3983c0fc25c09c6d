import {
  beginScript,
  Dispatcher,
  finishScript,
  initScript,
  renewScript,
  stepScript,
  turnScript,
} from "@echomq/scripts";
import { isEchoMQError, unitKey } from "@echomq/wire";
import {
  ALL,
  type BareRun,
  batchesOf,
  fieldsOf,
  type Item,
  itemOf,
  optionsOf,
  stepOf,
} from "./bare-ends.js";
import type { Keep } from "./jobs.js";
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
      const args = { now, claim, deadline: now + leaseMs, token, begun, hints: 4 };
      const claims = items.map(({ run }) => ({ token: run.token, count: 1 }));
      const results = items.map(({ row: { value } }) => ({ value }));
      const runs = items.map(({ row: { atm, ats } }) => ({ runs: `${atm}.${ats}` }));
      const attempts = finished.length > 0 ? runs : [];
      try {
        const call = { q, done, candidates, finished, args, claims, results, attempts };
        const { statuses: told, claimed, hints } = await this.#lane.run(turnScript, call);
        const statuses = told ?? items.map(() => "ok");
        const reply = { statuses, claimed, hints: hints ?? [] };
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
      const answer = await this.#lane.run(beginScript, {
        q: this.#parts.q,
        jobs,
        args: { token },
      });
      if (answer.statuses) throw new Error(`begin answered ${answer.statuses.join()}`);
      for (const [at, run] of bare.entries()) {
        run.fields = fieldsOf(answer.jobs[at]?.fields ?? []);
        run.marked = true;
        verdicts.set(run.id, answer.verdicts?.[at] ?? null);
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
