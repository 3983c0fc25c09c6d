import type { Command } from "../driver/types.js";
import { Connection, type OpenRequest, proveReady } from "../lane/connection.js";
import { wireArgs } from "../lane/reply.js";
import type { RawClient } from "./client.js";

/** One node-redis object for one connection: it never reconnects, so it never sends again. */
class NodeRedisConnection extends Connection {
  readonly #client: RawClient;
  readonly #socket: AbortController;

  constructor(client: RawClient, socket: AbortController) {
    super();
    this.#client = client;
    this.#socket = socket;
  }

  protected get writable(): boolean {
    return this.#client.isReady;
  }

  // The client itself joins what one turn of the event loop sends into one write.
  protected write(args: Command): Promise<unknown> {
    return this.#client.sendCommand(wireArgs(args, 0));
  }

  destroy(): void {
    try {
      this.#client.destroy();
    } catch {
      // A client whose socket is gone throws before it drops its credentials subscription.
      this.#client.quit().catch(() => {});
    }
    // While connecting the client does not hold its socket yet; the signal reaches it.
    this.#socket.abort();
  }
}

/** Opens one connection with the options of `client`, `address` and none of its retrying. */
export async function openNodeRedis(
  client: RawClient,
  address: Record<string, unknown>,
  request: OpenRequest,
): Promise<Connection> {
  const { signal } = request;
  const socket = new AbortController();
  const raw = client.duplicate(laneOptions(client, address, request, socket.signal));
  const connection = new NodeRedisConnection(raw, socket);
  let abort = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => {
        reject(signal.reason instanceof Error ? signal.reason : new Error("connect given up"));
      };
      signal.addEventListener("abort", abort, { once: true });
      raw.on("error", (error) => {
        reject(error);
        request.lost(error);
      });
      raw
        .connect()
        .then(() => proveReady(connection))
        .then(resolve, reject);
    });
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function laneOptions(
  client: RawClient,
  address: Record<string, unknown>,
  request: OpenRequest,
  signal: AbortSignal,
): Record<string, unknown> {
  return {
    // Parsed already; parsing again would write into the given client's own socket options.
    url: undefined,
    socket: {
      ...client.options?.socket,
      ...address,
      signal,
      connectTimeout: request.connectTimeoutMs,
      socketTimeout: undefined,
      reconnectStrategy: false,
    },
    name: `${client.options?.name ?? "echomq"}:${request.role}`,
    RESP: 2,
    maintNotifications: "disabled",
    clientSideCache: undefined,
    emitInvalidate: undefined,
    // Without this node-redis 6 arms a timer for every command, which costs more than the command.
    commandOptions: { timeout: undefined },
    commandsQueueMaxLength: undefined,
    pingInterval: undefined,
    readonly: undefined,
    keyPrefix: undefined,
    disableOfflineQueue: true,
  };
}
