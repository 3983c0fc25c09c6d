import { Dispatcher } from "@echomq/scripts";
import { isEchoMQError, queueKeys, queueName, ValidationError } from "@echomq/wire";
import { type CommandLine, commandFor, nameLike } from "./command-line.js";
import { openSource, type Source } from "./connect.js";
import { aborted, type Context, type Phase, type Progress } from "./context.js";
import { MigrationError } from "./errors.js";
import { type CommitOptions, type CommitReport, commit } from "./phases/commit.js";
import { type CopyReport, copy } from "./phases/copy.js";
import { type DiscoverReport, discover } from "./phases/discover.js";
import { type DrainOptions, type DrainReport, drain } from "./phases/drain.js";
import { type FenceOptions, type FenceReport, fence } from "./phases/fence.js";
import { type PlanReport, plan } from "./phases/plan.js";
import { type PurgeReport, purge } from "./phases/purge.js";
import { type RemoveOptions, type RemoveReport, remove } from "./phases/remove.js";
import { type RepairReport, repair } from "./phases/repair.js";
import { type RollbackOptions, type RollbackReport, rollback } from "./phases/rollback.js";
import { type RunOptions, type RunReport, runAll } from "./phases/run.js";
import { type StatusReport, status } from "./phases/status.js";
import { type VerifyReport, verify } from "./phases/verify.js";
import { v1Keys } from "./v1/keys.js";

/** Options of {@link createMigration}. */
export interface MigrationOptions {
  /** A driver, or an ioredis or node-redis client whose options are read. */
  readonly source: Source;
  /** The v1 queue as v1 spells it, braces included. */
  readonly queue: string;
  /** Prefix of the v1 keys. Default `bull`. */
  readonly prefix?: string | undefined;
  /** Name on the v2 wire, where v1's name is one that v2 refuses. Default: the v1 name without braces. */
  readonly as?: string | undefined;
  /** Id of the run to begin or to go on with. Default: the one found, else a new one. */
  readonly run?: string | undefined;
  /** Jobs per call, 1 to 250. Default 200. */
  readonly batch?: number | undefined;
  /** Stops the phase between two batches. */
  readonly signal?: AbortSignal | undefined;
  /** What the commands in reports and refusals carry beside queue and prefix. */
  readonly commandLine?: CommandLine | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The migration of one v1 queue. Each phase is one call, may be stopped and may be repeated. */
export interface Migration {
  /** Bare name on the v2 wire. */
  readonly q: string;
  /** Id of the run, once a phase has found or made it. */
  readonly run: string | undefined;
  discover(): Promise<DiscoverReport>;
  plan(): Promise<PlanReport>;
  drain(options?: DrainOptions): Promise<DrainReport>;
  fence(options?: FenceOptions): Promise<FenceReport>;
  copy(): Promise<CopyReport>;
  verify(): Promise<VerifyReport>;
  commit(options?: CommitOptions): Promise<CommitReport>;
  purge(): Promise<PurgeReport>;
  rollback(options?: RollbackOptions): Promise<RollbackReport>;
  status(): Promise<StatusReport>;
  repair(): Promise<RepairReport>;
  remove(options?: RemoveOptions): Promise<RemoveReport>;
  /** Walks plan, drain, fence, copy, verify and commit. */
  runAll(options?: RunOptions): Promise<RunReport>;
  /** Ends the connection. Never rejects. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const MOST = 250;

/** The refusal of a server that is a node of a cluster. */
export function onCluster(queue: string): MigrationError {
  const message = "A queue on a cluster cannot be moved yet; nothing was read or written.";
  return new MigrationError({ reason: "CLUSTER", queue, phase: "plan", message });
}

/**
 * Makes the migration of one queue; nothing is written before `fence`.
 * @throws ValidationError `VALIDATION` naming the option; `MigrationError` `NAME` when v2 refuses the
 * queue's name and no `as` is given, `CLUSTER` on a cluster.
 * @throws ServerError when the server cannot be reached.
 */
export async function createMigration(options: MigrationOptions): Promise<Migration> {
  const { queue, prefix, q, batch } = checked(options);
  const { driver, own } = await openSource(options.source);
  const dispatcher = await Dispatcher.open(driver, "main");
  const close = async (): Promise<void> => {
    await dispatcher.close();
    if (own) await driver.close();
  };
  if (driver.info.cluster) {
    await close();
    throw onCluster(queue);
  }
  const ctx: Context = {
    dispatcher,
    queue,
    prefix,
    q,
    batch,
    v1: v1Keys(prefix, queue, q),
    v2: queueKeys(q),
    run: options.run,
    phase: "status",
    command: "status",
    others: undefined,
    signal: options.signal,
    commandLine: options.commandLine ?? {},
    progress: (progress) => options.onProgress?.(progress),
    check() {
      if (options.signal?.aborted) throw aborted(ctx);
    },
  };
  const call = <T>(
    phase: Phase,
    work: (own: Context) => Promise<T>,
    command: string = phase,
  ): Promise<T> => {
    ctx.phase = phase;
    ctx.command = command;
    return work(ctx);
  };
  return {
    q,
    get run() {
      return ctx.run;
    },
    discover: () => call("discover", discover),
    plan: () => call("plan", plan),
    drain: (given) => call("drain", (own) => drain(own, given)),
    fence: (given) => call("fence", (own) => fence(own, given)),
    copy: () => call("copy", copy),
    verify: () => call("verify", verify),
    commit: (given) => call("commit", (own) => commit(own, given), purging("commit", given)),
    purge: () => call("purge", purge, "commit --purge-v1"),
    rollback: (given) => {
      const command = given?.overwrite === true ? "rollback --overwrite" : "rollback";
      return call("rollback", (own) => rollback(own, given), command);
    },
    status: () => call("status", status),
    repair: () => call("repair", repair),
    remove: (given) => {
      const command = given?.yes === true ? "remove --yes" : "remove";
      return call("remove", (own) => remove(own, given), command);
    },
    runAll: (given) => call("plan", (own) => runAll(own, given), purging("run", given)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function purging(command: string, options: CommitOptions | undefined): string {
  return options?.purgeV1 === true ? `${command} --purge-v1` : command;
}

/**
 * Checks what a migration is told, without a server; answers the name on the v2 wire.
 * @throws ValidationError `VALIDATION` naming the option; MigrationError `NAME`.
 */
export function checkOptions(options: Omit<MigrationOptions, "source">): string {
  return checked(options).q;
}

function checked(options: Omit<MigrationOptions, "source">): {
  queue: string;
  prefix: string;
  q: string;
  batch: number;
} {
  const { queue, prefix = "bull", batch = 200, run, commandLine = {} } = options;
  for (const [option, value] of Object.entries({ queue, prefix })) {
    if (typeof value !== "string" || value === "") {
      throw new ValidationError({ option, reason: "must be a text that is not empty" });
    }
  }
  if (!Number.isInteger(batch) || batch < 1 || batch > MOST) {
    throw new ValidationError({
      option: "batch",
      reason: `must be a whole number from 1 to ${MOST}`,
    });
  }
  if (run !== undefined && !/^[0-9A-Za-z-]{1,64}$/.test(run)) {
    throw new ValidationError({
      option: "run",
      reason: "must be 1 to 64 letters, digits or hyphens",
    });
  }
  if (options.as !== undefined) return { queue, prefix, batch, q: queueName(options.as, "as") };
  try {
    return { queue, prefix, batch, q: queueName(queue) };
  } catch (error) {
    if (!isEchoMQError(error, "VALIDATION")) throw error;
    throw new MigrationError({
      reason: "NAME",
      queue,
      phase: "plan",
      message: `The v2 wire refuses this queue name (${error.message}). Give it another with --as, on every command.`,
      details: { queue },
      next: commandFor({ queue, prefix, q: nameLike(queue), commandLine }, "plan"),
    });
  }
}
