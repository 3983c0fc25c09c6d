import type { EchoMQError } from "@echomq/wire";
import type { Session } from "../connection/session.js";
import { Engine } from "./engine.js";
import type { LeaseLostError } from "./errors.js";
import { LeaseKeeper } from "./lease-keeper.js";
import type { WorkerSettings } from "./options.js";
import type { Settlement } from "./outcome.js";
import { Postman } from "./postman.js";
import { Presence } from "./presence.js";
import type { Run } from "./run.js";
import { Sweeper } from "./sweeper.js";
import { Waker } from "./waker.js";
import { Wakeups } from "./wakeups.js";

/** What the parts of a worker need of it. */
export interface PartsHost {
  /** Runs the handler; `done` is told once, later, how the run ended: null when nothing may be written. */
  execute(run: Run, done: (run: Run, end: Settlement | null) => void): void;
  /** The end was written. */
  settled(settlement: Settlement): void;
  /** The run's lease is gone. */
  lost(run: Run, error: LeaseLostError): void;
  /** The run's job must end with this verdict. */
  doom(run: Run, verdict: string): void;
  /** A job whose worker died was put back in line. */
  stalled(id: string): void;
  drained(): void;
  /** Slots are free and there is nothing to claim. */
  idle(): void;
  /** False while the worker has no use for a job. */
  wanting(): boolean;
  /** Trouble that the worker goes on after. */
  trouble(error: unknown): void;
  /** Trouble that ends the worker. */
  fatal(error: EchoMQError): void;
}

/** The parts of a worker that is connected. */
export interface Parts {
  readonly session: Session;
  readonly engine: Engine;
  readonly keeper: LeaseKeeper;
  readonly sweeper: Sweeper;
  readonly waker: Waker;
  readonly wakeups: Wakeups;
  readonly presence: Presence;
  readonly postman: Postman;
}

/** Parts of workers that have started, for the testing aid. */
const known = new WeakMap<object, Parts>();

export function keepParts(worker: object, parts: Parts): void {
  known.set(worker, parts);
}

export function partsOf(worker: object): Parts | undefined {
  return known.get(worker);
}

/**
 * Opens a worker's lanes and joins its parts; nothing is started.
 * @throws ServerError `CONNECTION_LOST` when a lane cannot be opened.
 */
export async function assemble(
  session: Session,
  settings: WorkerSettings,
  host: PartsHost,
): Promise<Parts> {
  const lease = await session.lane("lease");
  const blocking = await session.lane("blocking").catch(async (error: unknown) => {
    await session.drop(lease);
    throw error;
  });
  const { trouble, fatal } = host;
  const engine = new Engine(session, lease, settings, {
    execute: host.execute,
    settled: (settlement) => {
      const { how } = settlement;
      if (how === "completed" || how === "failed") presence.count(how);
      if (how === "failed") void postman.deliver();
      host.settled(settlement);
    },
    lost: host.lost,
    drained: host.drained,
    idle: (due) => {
      host.idle();
      void wakeups.wait(due);
    },
    due: (at) => wakeups.plan(at),
    bury: (ids) => void sweeper.bury(ids).catch(trouble),
    trouble,
    fatal,
  });
  const keeper = new LeaseKeeper(session, settings.leaseMs, {
    owned: () => engine.owned,
    lose: (run, loss) => engine.lose(run, loss),
    doom: host.doom,
    trouble,
  });
  const postman = new Postman(session, trouble);
  const sweeper = new Sweeper(session, settings, {
    stalled: host.stalled,
    mail: () => void postman.deliver(),
    wake: () => engine.wake(),
    trouble,
  });
  const waker = new Waker(session, blocking);
  const wakeups = new Wakeups(session, waker, sweeper, {
    wake: (id) => engine.wake(id),
    claiming: () => engine.claiming && host.wanting(),
    trouble,
    fatal,
  });
  const presence = new Presence(session, {
    name: settings.name,
    concurrency: () => settings.concurrency,
    maxDataPoints: settings.maxDataPoints,
    trouble,
  });
  // In a test time may jump: a lease that is held here must not look as if its worker had died.
  session.follow({
    before: (ms) => keeper.renew(ms),
    moved: () => keeper.renew(),
    after: async () => {
      await presence.tell();
      await sweeper.promoteDue();
      engine.wake();
    },
  });
  return { session, engine, keeper, sweeper, waker, wakeups, presence, postman };
}
