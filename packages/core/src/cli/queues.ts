import type { RedisDriver } from "@echomq/scripts";
import { connectionTrouble, type Host, UsageError } from "@echomq/scripts/cli";
import { EchoMQError, isEchoMQError, parseKey, queueName, stampKey } from "@echomq/wire";
import { Queue } from "../queue/queue.js";
import { CONNECT_MS, connect } from "./connect.js";
import { EXIT } from "./exit.js";
import { type Given, tellTrouble } from "./output.js";

/** Keys the server looks at for one page of a scan. */
const SCAN_PAGE = 1_000;

/** What a command does with one queue; answers its exit status. */
export type Work = (queue: Queue) => Promise<number>;

/**
 * Runs a command on each queue over one connection, the next one also where this one is in trouble.
 * Answers the highest exit status.
 */
export async function onQueues(
  host: Host,
  given: Given & { readonly names: readonly string[]; readonly all: boolean },
  work: Work,
): Promise<number> {
  const named = namesOf(given.names, given.all);
  const { driver, release } = await connect(given.url);
  try {
    const names = given.all ? await allQueues(driver) : named;
    if (names.length === 0) throw none("There is no v2 queue in this database");
    let status = EXIT.clean;
    for (const name of names) {
      try {
        status = Math.max(status, await onQueue(driver, name, work));
      } catch (error) {
        tellTrouble(host, given, error, name);
        status = EXIT.trouble;
        // What is wrong with the way to one is wrong with the way to all.
        if (connectionTrouble(error, given.url) !== null) break;
      }
    }
    return status;
  } finally {
    await release("now");
  }
}

/** Checked before anything is opened: a wrong name is told without a server too. */
function namesOf(names: readonly string[], all: boolean): readonly string[] {
  if (all === names.length > 0) {
    throw new UsageError(
      "name one queue or more; doctor, counts, pause and resume also take --all",
    );
  }
  return [
    ...new Set(
      names.map((name) => {
        try {
          return queueName(name);
        } catch (error) {
          if (!isEchoMQError(error, "VALIDATION")) throw error;
          throw new UsageError(error.message);
        }
      }),
    ),
  ];
}

async function onQueue(connection: RedisDriver, name: string, work: Work): Promise<number> {
  const queue = new Queue(name, { connection, retryTime: CONNECT_MS });
  try {
    // The fence first: it knows what stands here in the queue's place.
    await queue.waitUntilReady();
    const key = stampKey(name);
    if ((await connection.command(["EXISTS", key], { key })) === 0) {
      throw none("There is no queue of this name in this database; --all tells which there are");
    }
    return await work(queue);
  } finally {
    await queue.close();
  }
}

function none(message: string): EchoMQError {
  return new EchoMQError({ code: "NO_QUEUE", message });
}

/** Names of the v2 queues of a server, in order: by a bounded SCAN for their stamps. */
async function allQueues(driver: RedisDriver): Promise<readonly string[]> {
  if (driver.info.cluster) throw new UsageError("--all cannot list a cluster: name the queues");
  const found = new Set<string>();
  let cursor = "0";
  do {
    const scan = ["SCAN", cursor, "MATCH", "emq:{*}:meta", "COUNT", String(SCAN_PAGE)];
    const [next, keys] = (await driver.command([...scan, "TYPE", "string"])) as [string, string[]];
    cursor = next;
    for (const key of keys) {
      const parts = parseKey(key);
      if (parts.type === "stamp") found.add(parts.q);
    }
  } while (cursor !== "0");
  return [...found].sort();
}
