import { type Host, onHost, runProgram, UsageError } from "@echomq/scripts/cli";
import { Command } from "commander";
import { discoverQueues } from "../discover-queues.js";
import type { Migration } from "../migration.js";
import { RUNBOOK } from "../runbook.js";
import { checkAddress, connect } from "./connect.js";
import { EXIT, exitStatus } from "./exit.js";
import {
  addressOf,
  allowOption,
  type Common,
  connectionOptions,
  deadline,
  deadlineOption,
  type Given,
  HELP,
  lineOf,
  outputFor,
  purgeOption,
  queueOptions,
} from "./options.js";
import { runPhase, type Work } from "./run-phase.js";

export type { Host } from "@echomq/scripts/cli";

/** Runs the tool once and answers its exit status. Never rejects. */
export async function main(host: Host): Promise<number> {
  const told = { json: host.args.includes("--json"), color: !host.args.includes("--no-color") };
  const failed = (error: unknown): number => {
    outputFor(host, told).error(error);
    return exitStatus(error);
  };
  if (host.args.length === 0) {
    return failed(new UsageError("a command is needed; echomq-migrate --help lists them"));
  }
  let status: number = EXIT.done;
  const program = build(host, (code) => {
    status = code;
  });
  return runProgram(program, host, () => status, failed);
}

function build(host: Host, end: (status: number) => void): Command {
  const program = onHost(new Command("echomq-migrate"), host)
    .description("Moves a v1 (BullMQ) queue to the EchoMQ 2 wire, phase by phase.")
    .version(host.version)
    .addHelpText("after", HELP);
  const phase = (
    name: string,
    summary: string,
    work: (options: Given) => Work,
    flags: (options: Given) => string = () => "",
  ): Command => {
    const command = program.command(name).description(summary);
    return queueOptions(connectionOptions(command)).action(async (options: Given) => {
      end(await runPhase(host, options, `${name}${flags(options)}`, work(options)));
    });
  };
  const reported =
    (work: (migration: Migration, options: Given) => ReturnType<Migration[keyof Phases]>) =>
    (options: Given): Work =>
    async (migration, output) => {
      const report = await work(migration, options);
      output.report(report);
      return report;
    };
  const purging = ({ purgeV1 }: Given): string => (purgeV1 === true ? " --purge-v1" : "");

  connectionOptions(program.command("discover").description("list v1 queues, or look at one"))
    .option("--queue <name>", "look at this v1 queue alone, as v1 spells it")
    .option("--prefix <prefix>", "prefix of the v1 keys")
    .option("--as <name>", "name on the v2 wire, where v2 refuses v1's")
    .option("--prefixes <list>", "prefixes to look at, separated by commas (default: bull,emq)")
    .action(async (options: Given) => {
      end(await runDiscover(host, options));
    });
  phase(
    "plan",
    "say what a move would do; writes nothing",
    reported((m) => m.plan()),
  );
  phase(
    "drain",
    "wait until no job is active",
    reported((m, o) => m.drain(deadline(o))),
  ).addOption(deadlineOption());
  phase(
    "fence",
    "close the v1 queue for every client",
    reported((m, o) => m.fence({ allowConnected: o.allowConnected === true })),
  ).addOption(allowOption());
  phase(
    "copy",
    "copy jobs in batches; goes on where it stopped",
    reported((m) => m.copy()),
  );
  phase(
    "verify",
    "compare every job and member",
    reported((m) => m.verify()),
  );
  phase(
    "commit",
    "open the queue for v2 clients",
    reported((m, o) => m.commit({ purgeV1: o.purgeV1 === true })),
    purging,
  ).addOption(purgeOption());
  phase(
    "rollback",
    "give the queue back to v1",
    reported((m, o) => m.rollback({ overwrite: o.overwrite === true })),
    (o) => (o.overwrite === true ? " --overwrite" : ""),
  ).option("--overwrite", "replace job lists that v1 clients wrote after the fence");
  phase(
    "status",
    "show where the queue stands",
    reported((m) => m.status()),
  );
  phase(
    "repair",
    "put back a stamp that was deleted or overwritten",
    reported((m) => m.repair()),
  );
  phase(
    "remove",
    "print, or with --yes delete, every v2 key of the queue",
    reported((m, o) => m.remove({ yes: o.yes === true })),
    (o) => (o.yes === true ? " --yes" : ""),
  ).option("--yes", "really delete");
  phase("run", "walk drain, plan, fence, copy, verify and commit", walkAll, purging)
    .addOption(deadlineOption())
    .addOption(allowOption())
    .addOption(purgeOption());
  program
    .command("runbook")
    .description("print how to move a deployment")
    .option("--json", "as a JSON document")
    .action(({ json }: Pick<Common, "json">) => {
      const document = `${JSON.stringify({ phase: "runbook", text: RUNBOOK })}\n`;
      host.stdout.write(json === true ? document : RUNBOOK);
    });
  return program;
}

/** Phases that answer a report of their own. */
type Phases = Pick<
  Migration,
  | "plan"
  | "drain"
  | "fence"
  | "copy"
  | "verify"
  | "commit"
  | "rollback"
  | "status"
  | "repair"
  | "remove"
>;

function walkAll(options: Given): Work {
  return async (migration, output) => {
    await migration.runAll({
      ...deadline(options),
      allowConnected: options.allowConnected === true,
      purgeV1: options.purgeV1 === true,
      // Every phase but the last is followed by the next one, without anybody's doing.
      onReport: (report) => output.report(report, report.phase === "commit"),
    });
    return null;
  };
}

async function runDiscover(host: Host, options: Given): Promise<number> {
  if (options.queue !== undefined) {
    return runPhase(host, options, "discover", async (migration, output) => {
      output.report(await migration.discover());
      return null;
    });
  }
  const output = outputFor(host, options);
  try {
    const list = options.prefixes ?? options.prefix ?? "bull,emq";
    const prefixes = list.split(",").filter((prefix) => prefix !== "");
    if (prefixes.length === 0) throw new UsageError("--prefixes: expected one prefix at least");
    const { url, from } = addressOf(host, options);
    checkAddress(url, from);
    const source = await connect(url, options.driver);
    const { signal } = host;
    try {
      const commandLine = lineOf(host, options);
      output.report(await discoverQueues({ source, prefixes, signal, commandLine }));
      return EXIT.done;
    } finally {
      await source.close();
    }
  } catch (error) {
    output.error(error);
    return exitStatus(error);
  }
}
