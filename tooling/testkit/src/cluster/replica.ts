import { type ServerOptions, startServer, type TestServer } from "../server/server.js";
import { ask, infoField, until } from "./admin.js";

/** A server that copies another one. */
export interface TestReplica extends TestServer {
  /** Waits until everything the primary has written so far is here. */
  inSync(): Promise<void>;
  /** Makes it a primary of its own; it keeps what it has. */
  promote(): Promise<void>;
}

/**
 * Starts a replica of a server of the test's own and waits until it is in sync.
 * @throws Error as `startServer`.
 */
export async function startReplica(
  primary: TestServer,
  options: Omit<ServerOptions, "engine"> = {},
): Promise<TestReplica> {
  const server = await startServer({ ...options, engine: primary.engine });
  const inSync = async (): Promise<void> => {
    const written = await ask(primary, (client) => client.info("replication"));
    const goal = Number(infoField(written, "master_repl_offset"));
    await ask(server, (client) =>
      until(async () => {
        const info = await client.info("replication");
        if (infoField(info, "master_link_status") !== "up") return "the replica is not connected";
        const seen = Number(infoField(info, "slave_repl_offset"));
        return seen >= goal ? undefined : `the replica is at ${seen} of ${goal}`;
      }),
    );
  };
  try {
    // By default a primary waits five seconds for more replicas before it starts the first copy.
    await ask(primary, (client) => client.config("SET", "repl-diskless-sync-delay", "0"));
    const { host, port } = primary.config;
    await ask(server, (client) => client.call("REPLICAOF", host, String(port)));
    await inSync();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return Object.assign(server, {
    inSync,
    promote: async (): Promise<void> => {
      await ask(server, (client) => client.call("REPLICAOF", "NO", "ONE"));
    },
  });
}
