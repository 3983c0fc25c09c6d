import { Dispatcher } from "@echomq/scripts";
import { queueKeys } from "@echomq/wire";
import {
  type CommandLine,
  commandFor,
  commandWithoutQueue,
  nameLike,
  type Place,
} from "./command-line.js";
import { openSource, type Source } from "./connect.js";
import { aborted, type Context } from "./context.js";
import { otherDatabases } from "./databases.js";
import { locate } from "./locate.js";
import { type DiscoveredQueue, type DiscoverReport, describeQueue } from "./phases/discover.js";
import { v1Keys } from "./v1/keys.js";
import { scanKeys } from "./v1/scan.js";
import { TELLING_UNITS } from "./v1/units.js";

/** Options of {@link discoverQueues}. */
export interface DiscoverQueuesOptions {
  /** A driver, or an ioredis or node-redis client whose options are read. */
  readonly source: Source;
  /** Prefixes to look at. Default `bull` and `emq`. */
  readonly prefixes?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What the commands in the report carry beside queue and prefix. */
  readonly commandLine?: CommandLine | undefined;
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
  const { signal, commandLine = {} } = options;
  const at = (prefix: string, queue: string): Context =>
    contextFor(dispatcher, { prefix, queue }, commandLine, signal);
  try {
    const found = new Map<string, DiscoveredQueue>();
    for (const prefix of options.prefixes ?? ["bull", "emq"]) {
      const base = at(prefix, "-");
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
        const { described, base: from, moved } = await describePlace(at(prefix, queue));
        // What is told by its move knows more than what is told by its tombstone.
        if (described !== null && (moved || !found.has(from))) found.set(from, described);
      }
    }
    const queues = [...found.values()];
    const elsewhere = queues.length === 0 ? await otherDatabases(dispatcher) : null;
    return { phase: "discover", queues, elsewhere, next: nextOf(queues, commandLine) };
  } finally {
    await dispatcher.close();
    if (own) await driver.close();
  }
}

/**
 * What stands at a place, null for a v2 queue. At prefix `emq` a stamp stands where v1 has its meta: the
 * queue of a move is told once, by the v1 queue it began with.
 */
async function describePlace(ctx: Context): Promise<{
  readonly described: DiscoveredQueue | null;
  readonly base: string;
  readonly moved: boolean;
}> {
  const { other } = await locate(ctx);
  const moved = ctx.v1.inPlace && other !== null;
  const own = moved ? { ...ctx, ...other, v1: v1Keys(other.prefix, other.queue, ctx.q) } : ctx;
  const described = await describeQueue(own);
  return { described: described.state === "v2" ? null : described, base: own.v1.base, moved };
}

function contextFor(
  dispatcher: Dispatcher,
  { prefix, queue }: Place,
  commandLine: CommandLine,
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
    phase: "discover",
    command: "discover",
    others: undefined,
    signal,
    commandLine,
    progress: () => undefined,
    check() {
      if (signal?.aborted) throw aborted(ctx, commandWithoutQueue(commandLine, "discover"));
    },
  };
  return ctx;
}

/** The first queue that may move, else the first that was found. */
function nextOf(queues: readonly DiscoveredQueue[], commandLine: CommandLine): string | null {
  const one = queues.find(({ state }) => state === "v1") ?? queues[0];
  if (one === undefined) return null;
  const { queue, prefix, q, state } = one;
  const source = { queue, prefix, q, commandLine };
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
