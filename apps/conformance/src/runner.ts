import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RedisDriver } from "@echomq/scripts";
import { type DriverName, openDriver } from "./connect/drivers.js";
import { type Engine, readEngine, UNKNOWN_ENGINE } from "./connect/engine.js";
import { refusalOf, textOf } from "./connect/refusal.js";
import { Seam } from "./connect/seam.js";
import { openStrict } from "./connect/strict.js";
import { Tool } from "./connect/tool.js";
import { Context, type Scenario } from "./context.js";
import { Names } from "./keys/names.js";
import { OwnKeys } from "./keys/own.js";
import { MonitorRecord, type Tokens } from "./monitor/record.js";
import { openMonitor } from "./monitor/socket.js";
import { Broken, ConnectionTrouble, Interrupted, Misused, Refused, type Row } from "./outcome.js";
import { SCENARIOS } from "./scenarios/index.js";
import { Sight } from "./sight.js";

/** What to run, and where. */
export interface RunOptions {
  readonly url: string;
  readonly driver: DriverName;
  readonly strict: boolean;
  /** Base name of the run's queues; default a name of its own. */
  readonly queue?: string | undefined;
  /** Leaves the run's keys where they are. */
  readonly keep: boolean;
  /** Whether the server was started for this run alone. */
  readonly ownServer: boolean;
  /** Ends the run early; what it made is removed. */
  readonly signal?: AbortSignal;
  /** Wraps the driver under test, for drivers of one's own and for tests that break it. */
  readonly decorate?: (driver: RedisDriver) => RedisDriver;
}

/** What a run found. */
export interface Report {
  readonly engine: Engine;
  readonly driver: DriverName;
  /** Base name of the run's queues. */
  readonly queue: string;
  readonly scenarios: readonly Row[];
}

/** Longest time of one scenario, and what it gets to notice that it was cut short. */
const SCENARIO_MS = 15_000;
const CUT_MS = 1_000;

/**
 * Runs every scenario against a server and removes what it made.
 * @throws ConnectionTrouble, Misused, or Interrupted when `signal` aborts.
 */
export async function runConformance(options: RunOptions): Promise<Report> {
  const names = new Names(options.queue);
  const run = randomBytes(8).toString("hex");
  const tokens = {
    lane: `echomq-lane:${run}`,
    tool: `echomq-tool:${run}`,
    end: `echomq-end:${run}`,
  };
  const tool = await connected(() => Tool.open(options.driver, options.url, tokens.tool));
  try {
    const engine = await refusable(() => readEngine(tool));
    if (!(engine instanceof Refused) && engine.mode === "cluster") {
      throw new Misused("the server is a node of a cluster; conformance runs on a single server");
    }
    const keys = new OwnKeys(tool, names);
    await keys.begin(options.queue !== undefined);
    const { sight, record } = await watch(options.url, tokens, names, tool);
    const seam = new Seam(tokens.lane);
    const lanes = await openLanes(options, run, seam).catch((error: unknown) => {
      sight.close();
      throw error;
    });
    const context = new Context({
      ...{ names, keys, tool, seam, sight, engine },
      ...{ ownServer: options.ownServer, ...lanes },
    });
    try {
      const scenarios = await runAll(context, options);
      const found = engine instanceof Refused ? UNKNOWN_ENGINE : engine;
      return { engine: found, driver: options.driver, queue: names.of("main"), scenarios };
    } finally {
      await context.closeOpened();
      await lanes.driver.close("now");
      sight.close();
      const touched = [...seam.sent.flatMap(({ command }) => command), ...record.words()];
      if (!options.keep) await keys.remove(touched).catch(() => undefined);
    }
  } finally {
    await tool.close();
  }
}

async function runAll(context: Context, options: RunOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const scenario of SCENARIOS) {
    if (scenario.strict && !options.strict) continue;
    rows.push(await runOne(scenario, context, options.signal));
  }
  return rows;
}

async function runOne(scenario: Scenario, context: Context, signal?: AbortSignal): Promise<Row> {
  const { id, title } = scenario;
  const stop = new AbortController();
  const work = scenario.run(context);
  try {
    const detail = await Promise.race([work, stopped(stop.signal, signal)]);
    return { id, title, ok: true, detail };
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    if (!(error instanceof Refused) && !(await context.tool.alive())) {
      throw new ConnectionTrouble(`the server went away during ${id}: ${textOf(error)}`);
    }
    const refused = error instanceof Refused || (!context.strictOn && refusalOf(error) !== null);
    return { id, title, ok: refused ? null : false, detail: textOf(error) };
  } finally {
    stop.abort();
    await context.closeOpened();
    // One that was cut short must not go on writing behind the clean-up.
    await Promise.race([work.catch(() => undefined), sleep(CUT_MS, undefined, { ref: false })]);
    await context.closeOpened();
  }
}

/** Rejects when a scenario takes too long or the run is ended from outside. */
function stopped(done: AbortSignal, outside?: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const late = setTimeout(
      () => reject(new Broken(`no end within ${SCENARIO_MS / 1_000} s`)),
      SCENARIO_MS,
    );
    const interrupted = (): void => reject(new Interrupted("interrupted"));
    if (outside?.aborted) interrupted();
    outside?.addEventListener("abort", interrupted, { once: true });
    done.addEventListener("abort", () => {
      clearTimeout(late);
      outside?.removeEventListener("abort", interrupted);
    });
  });
}

async function watch(
  url: string,
  tokens: Tokens,
  names: Names,
  tool: Tool,
): Promise<{ sight: Sight; record: MonitorRecord }> {
  const record = new MonitorRecord(tokens, (text) => names.mentionedIn(text));
  const socket = await connected(() =>
    refusable(() => openMonitor(url, (text) => record.offer(text))),
  );
  return { sight: new Sight({ record, socket, tool, endToken: tokens.end }), record };
}

interface Lanes {
  readonly driver: RedisDriver;
  readonly strictOn: boolean;
  readonly strictRefused: Refused | undefined;
}

async function openLanes(options: RunOptions, run: string, seam: Seam): Promise<Lanes> {
  const make = async (url: string): Promise<RedisDriver> => {
    const driver = await openDriver(options.driver, url);
    return options.decorate?.(driver) ?? driver;
  };
  return connected(async () => {
    const strict = options.strict
      ? await refusable(() => openStrict(options.url, run, make))
      : undefined;
    const strictRefused = strict instanceof Refused ? strict : undefined;
    const base =
      strict === undefined || strict instanceof Refused ? await make(options.url) : strict;
    return { driver: await seam.observe(base), strictOn: base === strict, strictRefused };
  });
}

/** Connects; whatever stops it is trouble with the connection. */
async function connected<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new ConnectionTrouble(textOf(error));
  }
}

/** A refused right as a value, so that the rest can go on without it. */
async function refusable<T>(ask: () => Promise<T>): Promise<T | Refused> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}
