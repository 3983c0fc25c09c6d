import { startServer, type TestServer } from "@echomq/testkit";
import { aclCommand } from "./acl/command.js";
import { type CliOptions, readOptions } from "./options.js";
import { ConnectionTrouble, Interrupted, Misused } from "./outcome.js";
import { jsonReport } from "./report/json.js";
import { tableReport } from "./report/table.js";
import { type Report, runConformance } from "./runner.js";

export const EXIT = { ok: 0, failed: 1, misused: 2, connection: 3, interrupted: 130 } as const;

/** Where a run writes and what ends it. */
export interface CliHost {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  readonly err: { write(text: string): unknown };
  readonly signal: AbortSignal;
}

/** Runs the command and returns its exit code. */
export async function cli(host: CliHost): Promise<number> {
  try {
    const [first, ...rest] = host.argv;
    if (first === "acl") {
      host.out.write(aclCommand(rest));
      return EXIT.ok;
    }
    const options = readOptions(host.argv, host.env);
    if (options === null) return EXIT.ok;
    const report = await run(options, host.signal);
    host.out.write(options.json ? jsonReport(report) : table(report, options, host));
    if (options.keep) host.err.write(`kept: the keys of the queues named ${report.queue}*\n`);
    return report.scenarios.some(({ ok }) => ok === false) ? EXIT.failed : EXIT.ok;
  } catch (error) {
    const [code, text] = ending(error);
    host.err.write(`conformance: ${text}\n`);
    return code;
  }
}

async function run(options: CliOptions, signal: AbortSignal): Promise<Report> {
  const { driver, strict, queue, keep } = options;
  const server = options.url === undefined ? await ownServer() : undefined;
  try {
    const url = options.url ?? server?.url ?? "";
    const ownServer = server !== undefined;
    return await runConformance({ url, driver, strict, queue, keep, ownServer, signal });
  } finally {
    await server?.stop();
  }
}

async function ownServer(): Promise<TestServer> {
  try {
    return await startServer();
  } catch (error) {
    throw new ConnectionTrouble(error instanceof Error ? error.message : String(error));
  }
}

function table(report: Report, options: CliOptions, { out }: CliHost): string {
  const terminal = out.isTTY === true;
  return tableReport(report, {
    color: terminal && options.color,
    columns: terminal ? out.columns : undefined,
  });
}

function ending(error: unknown): readonly [number, string] {
  if (error instanceof Misused) return [EXIT.misused, error.message];
  if (error instanceof ConnectionTrouble) return [EXIT.connection, error.message];
  if (error instanceof Interrupted) return [EXIT.interrupted, "interrupted, its keys are removed"];
  return [EXIT.failed, error instanceof Error ? (error.stack ?? error.message) : String(error)];
}
