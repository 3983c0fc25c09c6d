import { Dispatcher } from "@echomq/scripts";
import { queueKeys } from "@echomq/wire";
import { type CommandLine, commandFor, nameLike } from "./command-line.js";
import { openSource, type Source } from "./connect.js";
import { aborted, type Context } from "./context.js";
import { type DiscoveredQueue, type DiscoverReport, describeQueue } from "./phases/discover.js";
import { v1Keys } from "./v1/keys.js";
import { scanKeys } from "./v1/scan.js";
import { TELLING_UNITS } from "./v1/units.js";

/** Options of {@link discoverQueues}. */
export interface DiscoverQueuesOptions {
  /** A driver, or an ioredis or node-redis client whose options are read. */
  readonly source: Source;
  /** Prefixes to look at. Default `bull` and `emq`. */
  readonly prefixes?: readonly string[];
  readonly signal?: AbortSignal;
  /** What the commands in the report carry beside queue and prefix. */
  readonly commandLine?: CommandLine;
}

/** Units that tell a queue by their name. */
const TELLING: readonly string[] = ["meta", ...TELLING_UNITS];

/**
 * Lists the v1 queues of a server by a bounded SCAN. Read only.
 * @throws ServerError when the server cannot be reached.
 */
export async function discoverQueues(options: DiscoverQueuesOptions): Promise<DiscoverReport> {
  const { driver, own } = await openSource(options.source);
  const dispatcher = await Dispatcher.open(driver, "main");
  try {
    const queues: DiscoveredQueue[] = [];
    for (const prefix of options.prefixes ?? ["bull", "emq"]) {
      const base = contextFor(dispatcher, prefix, "-", options.signal);
      const names = new Set<string>();
      for await (const page of scanKeys(base, `${prefix}:`)) {
        for (const key of page) {
          const rest = key.slice(prefix.length + 1);
          const colon = rest.lastIndexOf(":");
          const name = rest.slice(0, Math.max(colon, 0));
          if (name !== "" && !name.includes(":") && TELLING.includes(rest.slice(colon + 1))) {
            names.add(name);
          }
        }
      }
      for (const queue of [...names].sort()) {
        const found = await describeQueue(contextFor(dispatcher, prefix, queue, options.signal));
        // At prefix `emq` a stamp stands where v1 has its meta: a v2 queue is no v1 queue.
        if (found.state !== "v2") queues.push(found);
      }
    }
    return { phase: "discover", queues, next: nextOf(queues, options.commandLine ?? {}) };
  } finally {
    await dispatcher.close();
    if (own) await driver.close();
  }
}

function contextFor(
  dispatcher: Dispatcher,
  prefix: string,
  queue: string,
  signal: AbortSignal | undefined,
): Context {
  const q = nameFor(queue);
  const ctx: Context = {
    dispatcher,
    queue,
    prefix,
    q,
    batch: 200,
    v1: v1Keys(prefix, queue, q),
    v2: queueKeys(q),
    run: undefined,
    others: undefined,
    signal,
    commandLine: {},
    progress: () => undefined,
    check() {
      if (signal?.aborted) throw aborted(ctx, "discover");
    },
  };
  return ctx;
}

/** The first queue that may move, else the first that was found. */
function nextOf(queues: readonly DiscoveredQueue[], commandLine: CommandLine): string | null {
  const one = queues.find(({ state }) => state === "v1") ?? queues[0];
  if (one === undefined) return null;
  const { queue, prefix, state } = one;
  const source = { queue, prefix, q: nameFor(queue), commandLine };
  return commandFor(source, state === "v1" ? "plan" : "status");
}

/** A name v2 refuses has no v2 side; one like it stands in for the look at v1. */
function nameFor(queue: string): string {
  try {
    return queueKeys(queue).q;
  } catch {
    return nameLike(queue);
  }
}
