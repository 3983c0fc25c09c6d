/** A stream a command line writes to. */
export type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Where one run of a command line takes its words from and writes to. */
export interface Host {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** Fires when the user wants to stop. */
  readonly signal: AbortSignal;
  /** Version of the package the command belongs to. */
  readonly version: string;
}

/** Options of {@link start}. */
export interface StartOptions {
  readonly version: string;
  /**
   * What is said when the first SIGINT or SIGTERM comes, which only fires `signal`; a second one ends the
   * process. Without it a signal ends the process at once.
   */
  readonly stopping?: string;
}

/** Exit status of a run that was stopped before it had ended; the process then dies by its signal. */
export const STOPPED = 130;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const BROKEN_PIPE = 141;

/** Runs a command line in this process: arguments, streams, signals and exit status are the process's own. */
export async function start(
  main: (host: Host) => Promise<number>,
  { version, stopping }: StartOptions,
): Promise<void> {
  const { argv, env, stdout, stderr } = process;
  // Whoever reads has seen enough, as with `| head`: as if by SIGPIPE, which Node ignores.
  for (const stream of [stdout, stderr]) stream.on("error", () => process.exit(BROKEN_PIPE));
  const stop = new AbortController();
  let received: NodeJS.Signals | undefined;
  const end = (name: NodeJS.Signals): void => {
    received = name;
    for (const each of SIGNALS) process.removeListener(each, end);
    stderr.write(`\n${stopping}\n`);
    stop.abort();
  };
  if (stopping !== undefined) for (const name of SIGNALS) process.on(name, end);
  const host = { args: argv.slice(2), env, stdout, stderr, signal: stop.signal, version };
  process.exitCode = await main(host);
  // A shell ends its loop only when it sees that the program died by the signal.
  if (process.exitCode === STOPPED && received !== undefined) process.kill(process.pid, received);
}
