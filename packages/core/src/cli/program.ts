import {
  addressFault,
  defaultAddress,
  type Host,
  onHost,
  runProgram,
  UsageError,
  visible,
} from "@echomq/scripts/cli";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Queue } from "../queue/queue.js";
import type { RetryState } from "../queue/verbs/retry.js";
import { describeCounts, type Standing, standingOf } from "./counts.js";
import { describeDoctor, mendCommand } from "./doctor.js";
import { EXIT } from "./exit.js";
import { type Given, tell, tellTrouble } from "./output.js";
import { onQueues, type Work } from "./queues.js";

/** What is done with each queue, and once all are done. */
interface Doing {
  readonly each: Work;
  readonly last?: () => void;
}

interface Options {
  readonly url?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly fix?: boolean;
  readonly limit?: number;
  readonly state?: RetryState;
  readonly resetAttempts?: boolean;
  readonly count?: number;
  readonly to?: string;
}

const HELP = `
ECHOMQ_REDIS_URL is the address where --url is not given; a password is best told that way.
With --json standard output holds one document per queue and nothing else.

Exit status:
  0  done; doctor: nothing is wrong, or all that was is mended
  1  doctor: something is wrong and not mended
  2  trouble: used wrongly, no such queue, or the server or the queue refuses
`;

/** Runs the command line once and answers its exit status. Never rejects. */
export async function main(host: Host): Promise<number> {
  const failed = (error: unknown): number => {
    const json = host.args.includes("--json");
    tellTrouble(host, { json, url: defaultAddress(host.env) }, error);
    return EXIT.trouble;
  };
  if (host.args.length === 0) {
    return failed(new UsageError("a command is needed; echomq --help lists them"));
  }
  let status = EXIT.clean;
  const program = build(host, (code) => {
    status = code;
  });
  return runProgram(program, host, () => status, failed);
}

function build(host: Host, end: (status: number) => void): Command {
  const program = onHost(new Command("echomq"), host)
    .description("Looks after queues on the EchoMQ 2 wire.")
    .version(host.version)
    .addHelpText("after", HELP);
  /** Adds a command; `work` is made anew for each run, and may have a last word. */
  const command = (
    name: string,
    summary: string,
    work: (given: Given, options: Options) => Doing,
  ): Command =>
    program
      .command(`${name} [queues...]`)
      .description(summary)
      .option(
        "--url <url>",
        "address of the server (default: ECHOMQ_REDIS_URL, else redis://127.0.0.1:6379)",
      )
      .option("--json", "one JSON document per queue on standard output")
      .action(async (names: readonly string[], options: Options) => {
        end(await run(host, names, options, work));
      });
  const ofAll = (each: Command): Command => each.option("--all", "every v2 queue of the database");

  const doctor = command(
    "doctor",
    "look for what is broken, mend it with --fix",
    (given, options) => ({
      each: async (queue) => {
        const { fix = false, limit } = options;
        if (!given.json && host.stderr.isTTY === true) {
          host.stderr.write(`looking at ${visible(queue.name)} …\n`);
        }
        const report = await queue.doctor({ fix, limit });
        const again = mendCommand(queue.name, options.url);
        tell(host, given, report, describeDoctor(report, fix, again));
        return report.ok ? EXIT.clean : EXIT.findings;
      },
    }),
  );
  ofAll(doctor)
    .option("--fix", "mend what needs no choice")
    .addOption(
      new Option("--limit <n>", "findings after which to stop (default: 1000)").argParser(positive),
    );
  const counts = command("counts", "jobs per state, workers, whether it is paused", (given) => {
    const seen: Standing[] = [];
    return {
      each: async (queue) => {
        const standing = await standingOf(queue);
        seen.push(standing);
        if (given.json) tell(host, given, standing, []);
        return EXIT.clean;
      },
      // Widths are known when all is.
      last: () => {
        if (!given.json) tell(host, given, {}, describeCounts(seen));
      },
    };
  });
  ofAll(counts);
  const verb = (
    name: string,
    summary: string,
    act: (queue: Queue, options: Options) => Promise<{ document: object; said: string }>,
  ): Command =>
    command(name, summary, (given, options) => ({
      each: async (queue) => {
        const { document, said } = await act(queue, options);
        tell(host, given, { queue: queue.name, ...document }, [`${visible(queue.name)}: ${said}`]);
        return EXIT.clean;
      },
    }));
  ofAll(
    verb("pause", "give no more jobs to workers; what runs goes on", async (queue) => {
      await queue.pause();
      return { document: { paused: true }, said: "paused" };
    }),
  );
  ofAll(
    verb("resume", "give jobs to workers again", async (queue) => {
      await queue.resume();
      return { document: { paused: false }, said: "resumed" };
    }),
  );
  verb("retry", "put all failed jobs back in line", async (queue, { state, resetAttempts }) => {
    const retried = await queue.retryJobs({ state, resetAttempts });
    return { document: { retried }, said: `${jobs(retried)} back in line` };
  })
    .addOption(
      new Option("--state <state>", "retry these instead").choices(["failed", "completed"]),
    )
    .option("--reset-attempts", "let their attempts count from 0 again");
  verb("redrive", "bring a dead-letter queue's jobs back", async (queue, { count, to }) => {
    const redriven = await queue.redrive({ count, to });
    return { document: { redriven }, said: `${jobs(redriven)} on the way back` };
  })
    .addOption(new Option("--count <n>", "how many at most (default: all)").argParser(positive))
    .option("--to <queue>", "another queue than the one each came from");
  return program;
}

async function run(
  host: Host,
  names: readonly string[],
  options: Options,
  work: (given: Given, options: Options) => Doing,
): Promise<number> {
  const { all = false, json = false, url = defaultAddress(host.env) } = options;
  const given = { url, json };
  try {
    const fault = addressFault(url);
    const from = options.url === undefined ? "ECHOMQ_REDIS_URL" : "--url";
    if (fault !== null) throw new UsageError(`${from}: ${fault}`);
    const { each, last } = work(given, options);
    const status = await onQueues(host, { ...given, names, all }, each);
    last?.();
    return status;
  } catch (error) {
    tellTrouble(host, given, error);
    return EXIT.trouble;
  }
}

function jobs(count: number): string {
  return `${count} ${count === 1 ? "job" : "jobs"}`;
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("expected a whole number from 1");
  return Number(text);
}
