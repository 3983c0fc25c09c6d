import type { TestServer } from "../server/server.js";
import { ask, infoField, until } from "./admin.js";

/** A node gives an attempt up after 5 s, e.g. when a vote comes late on a busy machine. */
const ATTEMPT_MS = 6_000;
const ATTEMPTS = 4;

/** Has a replica take over from its master, and waits until every node knows. */
export async function failover(servers: readonly TestServer[], replica: TestServer): Promise<void> {
  const before = await masterPort(replica);
  for (let attempt = 1; ; attempt += 1) {
    await ask(replica, (client) => client.call("CLUSTER", "FAILOVER"));
    try {
      await until(
        async () => ((await masterPort(replica)) === 0 ? undefined : `${replica.url} is a replica`),
        ATTEMPT_MS,
      );
      break;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
  await Promise.all(servers.map((server) => knows(server, replica, before)));
}

function knows(server: TestServer, replica: TestServer, before: number): Promise<void> {
  return ask(server, (client) =>
    until(async () => {
      const ranges = (await client.call("CLUSTER", "SLOTS")) as [
        number,
        number,
        [string, number],
      ][];
      const masters = ranges.map(([, , [, port]]) => port);
      const done = masters.includes(replica.port) && !masters.includes(before);
      return done ? undefined : `${server.url} does not know that ${replica.url} took over`;
    }),
  );
}

/** Port of a replica's master; 0 for a master. */
async function masterPort(server: TestServer): Promise<number> {
  const info = await ask(server, (client) => client.info("replication"));
  return Number(infoField(info, "master_port"));
}
