import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { aftermath, remainsOf, troubles } from "./aftermath.js";
import type { Args } from "./args.js";
import { check } from "./check/check.js";
import { gather } from "./check/jobs.js";
import { GAP_MS } from "./child/protocol.js";
import { Crew } from "./crew.js";
import { Faults } from "./faults.js";
import { History } from "./history.js";
import { planFor, type Who } from "./plan.js";
import { Random } from "./random.js";
import { readRecords } from "./records.js";
import { QUEUES, Stage } from "./stage.js";
import { Windows } from "./windows.js";

/** Length of a lease, in ms: short, so that many are lost; longer than a busy machine may stand still. */
const LEASE_MS = 2_500;
/** Longest time in which nothing at all changes while the rest is worked off, in ms. */
const STUCK_MS = 45_000;
/** Longest time a child may take to come up, in ms. */
const READY_MS = 60_000;
/** Findings that are told in words. */
const TOLD = 40;

/** What came of it. */
export interface Outcome {
  readonly findings: readonly string[];
  readonly jobs: number;
  readonly runs: number;
  readonly faults: number;
  readonly summary: string;
}

type Options = Omit<Args, "help">;

/** Runs one soak, to its end whatever it finds. */
export async function soak(options: Options, say: (line: string) => void): Promise<Outcome> {
  const { seed, kills, engine } = options;
  const ms = options.minutes * 60_000;
  say(`seed ${seed}: ${kills} kills in ${options.minutes} minutes on ${engine}`);
  const folder = folderOf(options.keep);
  const findings: string[] = [];
  const windows = new Windows();
  const stage = await Stage.open(engine);
  const shared = {
    queue: QUEUES.main,
    side: QUEUES.side,
    letters: QUEUES.letters,
    folder,
    leaseMs: LEASE_MS,
    rate: options.rate,
  };
  const urls = [stage.server.url, stage.proxy.url];
  const crew = new Crew(shared, urls, options.driver, new Random(seed ^ 0x5eed));
  const faults = new Faults(stage, crew, windows, say);
  const history = new History(stage.control, stage.unit("events"));
  const watch = watchMachine(windows);
  try {
    history.start();
    const started: Promise<unknown>[] = [];
    for (let n = 0; n < options.workers; n += 1) started.push(crew.add("worker").ready);
    for (let n = 0; n < options.producers; n += 1) started.push(crew.add("producer").ready);
    await Promise.race([Promise.all(started), sleep(READY_MS, undefined, { ref: false })]);
    const plan = planFor({ seed, kills, ms, leaseMs: LEASE_MS });
    await play(plan, faults, crew, ms, findings);
    say("the storm is over");
    await workOff(stage, crew, faults, findings, say);
    await history.stop();
    const written = readRecords(folder);
    const remains = await remainsOf(stage);
    findings.push(...troubles(written));
    for (const { name, records } of written) {
      for (const one of records) {
        if (one.e !== "gap") continue;
        windows.all.push({ what: "gap", from: one.at - one.ms, to: one.at, who: name });
      }
    }
    const { events } = history;
    const evidence = gather(QUEUES.main, written, events);
    const it = {
      q: QUEUES.main,
      evidence,
      events,
      remains,
      windows: windows.all,
      leaseMs: LEASE_MS,
    };
    findings.push(...check(it), ...(await aftermath(stage)));
    findings.push(...faults.hung.map((name) => `CLOSE ${name} did not end by itself`));
    if (options.keep !== undefined) keepAll(folder, history, windows);
    const runs = [...evidence.jobs.values()].reduce((sum, job) => sum + job.runs.length, 0);
    const numbers = `${evidence.adds} adds, ${runs} runs, ${events.length} events, ${plan.length} faults`;
    const verdict = findings.length === 0 ? "nothing was found" : `${findings.length} found`;
    for (const text of findings.slice(0, TOLD)) say(`FOUND ${text}`);
    const summary = `soak: ${verdict}; ${numbers}, seed ${seed}`;
    return { findings, jobs: evidence.adds, runs, faults: plan.length, summary };
  } finally {
    clearInterval(watch);
    await Promise.all(crew.all().map((child) => child.kill()));
    await stage.close();
    if (options.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function folderOf(keep: string | undefined): string {
  if (keep === undefined) return mkdtempSync(join(tmpdir(), "echomq-soak-"));
  mkdirSync(keep, { recursive: true });
  return keep;
}

function keepAll(folder: string, history: History, windows: Windows): void {
  const lines = history.events.map((event) => JSON.stringify(event)).join("\n");
  writeFileSync(join(folder, "events.json"), `${lines}\n`);
  writeFileSync(join(folder, "windows.json"), JSON.stringify(windows.all, null, 1));
}

/** A machine that stands still excuses what is lost meanwhile. */
function watchMachine(windows: Windows): NodeJS.Timeout {
  let last = Date.now();
  return setInterval(() => {
    const now = Date.now();
    if (now - last > GAP_MS) {
      windows.all.push({ what: "gap", from: last, to: now, who: undefined });
    }
    last = now;
  }, 50);
}

/** Begins each fault at its time, and replaces who dies unasked, which is a finding. */
async function play(
  plan: ReturnType<typeof planFor>,
  faults: Faults,
  crew: Crew,
  ms: number,
  findings: string[],
): Promise<void> {
  const start = performance.now();
  const until = async (at: number): Promise<void> => {
    for (;;) {
      findings.push(...(await fallen(crew)));
      const left = start + at - performance.now();
      if (left <= 0) return;
      await sleep(Math.min(left, 500));
    }
  };
  for (const { at, fault } of plan) {
    await until(at);
    faults.begin(fault);
  }
  await until(ms);
  await faults.end();
}

/** Children that ended though nobody ended them. */
async function fallen(crew: Crew): Promise<string[]> {
  const found: string[] = [];
  for (const child of crew.all()) {
    if (child.alive) continue;
    // One that is killed is replaced before it dies.
    found.push(`CRASH ${child.name} ended by itself with ${child.end}`);
    await crew.replace(child).ready;
  }
  return found;
}

/** Lets everything that is left be worked off, then closes the workers as a deploy does. */
async function workOff(
  stage: Stage,
  crew: Crew,
  faults: Faults,
  findings: string[],
  say: (line: string) => void,
): Promise<void> {
  await dismiss(crew, faults, "producer", 20_000);
  const { queue, side } = stage;
  for (const one of [queue, side]) {
    await one.resume();
    await one.setGlobalConcurrency(null);
    await one.removeGlobalRateLimit();
    await one.rateLimit(0);
  }
  // Whoever died in the middle of it left the side queue closing.
  await side.obliterate({ force: true });
  for (const worker of crew.all("worker")) worker.tell({ type: "resume" });
  let seen = "";
  let since = Date.now();
  for (;;) {
    findings.push(...(await fallen(crew)));
    const left = await leftOf(stage);
    const text = JSON.stringify(left);
    if (Object.values(left).every((count) => count === 0)) break;
    if (text !== seen) since = Date.now();
    seen = text;
    if (Date.now() - since > STUCK_MS) {
      findings.push(`STUCK nothing moves any more: ${text}`);
      break;
    }
    await sleep(250);
  }
  say("all is worked off");
  await dismiss(crew, faults, "worker", 5_000);
}

async function dismiss(crew: Crew, faults: Faults, role: Who, ms: number): Promise<void> {
  const children = crew.all(role);
  for (const child of children) crew.dismiss(child);
  await Promise.all(children.map((child) => faults.retire(child, ms)));
}

/** What is still to be done. */
async function leftOf(stage: Stage): Promise<Record<string, number>> {
  const { waiting, prioritized, delayed, active } = await stage.queue.getJobCounts();
  const held = await stage.control.zcard(stage.unit("held"));
  const trash = await stage.control.zcard(stage.unit("trash"));
  const outbox = await stage.control.hlen(stage.unit("outbox"));
  return { waiting, prioritized, delayed, active, held, trash, outbox };
}
