import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { CommandLine } from "../command-line.js";
import { discoverQueues } from "../discover-queues.js";
import { checkOptions, createMigration, type Migration } from "../migration.js";
import { RUNBOOK } from "../runbook.js";
import { checkAddress, connect, type DriverName } from "./connect.js";
import { EXIT, exitStatus, UsageError } from "./exit.js";
import { makeOutput, type Output } from "./output.js";

/** Where one run of the tool takes its words from and writes to. */
export interface Host {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Fires when the user wants to stop. */
  readonly signal: AbortSignal;
}

interface Common {
  readonly url: string;
  readonly driver?: DriverName;
  readonly queue?: string;
  readonly prefix?: string;
  readonly as?: string;
  readonly run?: string;
  readonly batch?: number;
  readonly json?: boolean;
  readonly color: boolean;
}

type Work = (migration: Migration, output: Output) => Promise<{ readonly phase: string } | null>;

/** Runs the tool once and answers its exit status. Never rejects. */
export async function main(host: Host): Promise<number> {
  let status: number = EXIT.done;
  const program = build(host, (code) => {
    status = code;
  });
  try {
    if (host.args.length === 0) {
      throw new UsageError("a command is needed; echomq-migrate --help lists them");
    }
    await program.parseAsync([...host.args], { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    host.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return exitStatus(error);
  }
}

function build(host: Host, end: (status: number) => void): Command {
  const program = new Command("echomq-migrate")
    .description("Moves a v1 (BullMQ) queue to the EchoMQ 2 wire, phase by phase.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
    });
  const command = (name: string, summary: string): Command =>
    common(program.command(name).description(summary), host);
  const phase = (
    name: string,
    summary: string,
    work: (options: Record<string, unknown>) => Work,
  ): Command =>
    command(name, summary).action(async (options: Common & Record<string, unknown>) => {
      end(await runPhase(host, options, work(options)));
    });

  command("discover", "list v1 queues, or look at one")
    .option("--prefixes <list>", "prefixes to look at, separated by commas", "bull,emq")
    .action(async (options: Common & { prefixes: string }) => {
      end(await runDiscover(host, options));
    });
  phase("plan", "say what a move would do; writes nothing", () => (m) => m.plan());
  phase("drain", "wait until no job is active", (o) => (m) => m.drain(deadline(o))).addOption(
    deadlineOption(),
  );
  phase(
    "fence",
    "close the v1 queue for every client",
    (o) => (m) => m.fence({ allowConnected: o.allowConnected === true }),
  ).addOption(allowOption());
  phase("copy", "copy jobs in batches; goes on where it stopped", () => (m) => m.copy());
  phase("verify", "compare every job and member", () => (m) => m.verify());
  phase(
    "commit",
    "open the queue for v2 clients",
    (o) => (m) => m.commit({ purgeV1: o.purgeV1 === true }),
  ).addOption(purgeOption());
  phase(
    "rollback",
    "give the queue back to v1",
    (o) => (m) => m.rollback({ overwrite: o.overwrite === true }),
  ).option("--overwrite", "replace job lists that v1 clients wrote after the fence");
  phase("status", "show where the queue stands", () => (m) => m.status());
  phase("repair", "put back a stamp that was deleted or overwritten", () => (m) => m.repair());
  phase(
    "remove",
    "print, or with --yes delete, every v2 key of the queue",
    (o) => (m) => m.remove({ yes: o.yes === true }),
  ).option("--yes", "really delete");
  phase("run", "plan, drain, fence, copy, verify and commit", (o) => async (m, output) => {
    const { allowConnected, purgeV1 } = o;
    await m.runAll({
      ...deadline(o),
      allowConnected: allowConnected === true,
      purgeV1: purgeV1 === true,
      onReport: (report) => output.report(report),
    });
    return null;
  })
    .addOption(deadlineOption())
    .addOption(allowOption())
    .addOption(purgeOption());
  program
    .command("runbook")
    .description("print how to move a deployment")
    .action(() => {
      host.stdout.write(RUNBOOK);
    });
  return program;
}

function common(command: Command, host: Host): Command {
  const url = addressOf(host);
  return command
    .option("--url <url>", "address of the server", url)
    .addOption(
      new Option("--driver <name>", "client to connect with").choices(["ioredis", "node-redis"]),
    )
    .option("--queue <name>", "the v1 queue as v1 spells it")
    .option("--prefix <prefix>", "prefix of the v1 keys", "bull")
    .option("--as <name>", "name on the v2 wire, where v2 refuses v1's")
    .option("--run <id>", "id of the run")
    .option("--batch <n>", "jobs per call, 1 to 250", wholeNumber)
    .option("--json", "one JSON document per phase on standard output")
    .option("--no-color", "no colours");
}

function addressOf({ env }: Host): string {
  return env.ECHOMQ_REDIS_URL ?? "redis://127.0.0.1:6379";
}

async function runPhase(host: Host, options: Common, work: Work): Promise<number> {
  const output = outputFor(host, options);
  try {
    if (options.queue === undefined) throw new UsageError("--queue <name> is needed");
    const { queue, prefix, as, run, batch } = options;
    const asked = {
      queue,
      commandLine: lineOf(options, host),
      ...defined({ prefix, as, run, batch }),
    };
    // Before anything is opened: a wrong word is told without a server too.
    checkAddress(options.url);
    checkOptions(asked);
    const driver = await connect(options.url, options.driver);
    try {
      const migration = await createMigration({
        source: driver,
        ...asked,
        signal: host.signal,
        onProgress: output.progress,
      });
      try {
        const report = await work(migration, output);
        if (report !== null) output.report(report);
        return blocked(report) ? EXIT.refused : EXIT.done;
      } finally {
        await migration.close();
      }
    } finally {
      await driver.close();
    }
  } catch (error) {
    output.error(error);
    return exitStatus(error);
  } finally {
    output.end();
  }
}

async function runDiscover(host: Host, options: Common & { prefixes: string }): Promise<number> {
  if (options.queue !== undefined) return runPhase(host, options, (m) => m.discover());
  const output = outputFor(host, options);
  try {
    const prefixes = options.prefixes.split(",").filter((prefix) => prefix !== "");
    if (prefixes.length === 0) throw new UsageError("--prefixes: expected one prefix at least");
    const source = await connect(options.url, options.driver);
    try {
      output.report(
        await discoverQueues({
          source,
          prefixes,
          signal: host.signal,
          commandLine: lineOf(options, host),
        }),
      );
      return EXIT.done;
    } finally {
      await source.close();
    }
  } catch (error) {
    output.error(error);
    return exitStatus(error);
  }
}

/** An address that the next command finds by itself is not repeated. */
function lineOf({ url, driver }: Common, host: Host): CommandLine {
  return { ...defined({ driver }), ...(url === addressOf(host) ? {} : { url }) };
}

function outputFor(host: Host, options: Common): Output {
  const color = options.color && host.stdout.isTTY === true && !host.env.NO_COLOR;
  return makeOutput({
    json: options.json === true,
    color,
    stdout: host.stdout,
    stderr: host.stderr,
  });
}

/** A plan with something in the way is a refusal for whoever reads exit statuses. */
function blocked(report: { readonly phase: string } | null): boolean {
  return (
    report !== null && "blockers" in report && (report.blockers as readonly unknown[]).length > 0
  );
}

function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as never;
}

function deadline(options: Record<string, unknown>): { deadlineMs?: number } {
  const seconds = options.deadline;
  return typeof seconds === "number" ? { deadlineMs: seconds * 1_000 } : {};
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}

function deadlineOption(): Option {
  return new Option("--deadline <seconds>", "how long to wait for active jobs (60)").argParser(
    wholeNumber,
  );
}

function allowOption(): Option {
  return new Option("--allow-connected", "go on although v1 workers are connected");
}

function purgeOption(): Option {
  return new Option("--purge-v1", "remove the vault and the v1 job keys; there is no way back");
}
