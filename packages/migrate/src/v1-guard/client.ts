import { ConfigError } from "@echomq/wire";

/** An ioredis client. */
export interface CallClient {
  call(command: string, ...args: never[]): Promise<unknown>;
}

/** A node-redis client. */
export interface SendCommandClient {
  sendCommand(...args: never[]): Promise<unknown>;
}

/** The client a v1 service already has: it is only asked, never changed. */
export type GuardClient = CallClient | SendCommandClient;

/** Sends one command; the first argument after its name is its key. */
export type Send = (command: readonly [string, string, ...string[]]) => Promise<unknown>;

/**
 * Finds how a client sends a command.
 * @throws ConfigError `CONFIG` when it is no such client, or renames keys by a `keyPrefix`.
 */
export function senderOf(client: GuardClient): Send {
  const options = (client as { options?: { keyPrefix?: unknown } } | null)?.options;
  if (typeof options?.keyPrefix === "string" && options.keyPrefix !== "") {
    throw new ConfigError({
      message: "client: it has a keyPrefix, so the guard would look at other keys than v1 uses",
      option: "client",
    });
  }
  // ioredis has both; its `sendCommand` takes a command object.
  if (has(client, "call"))
    return ([name, ...args]) => client.call(name, ...(args as string[] as never[]));
  if (has(client, "sendCommand")) {
    // A cluster client of node-redis takes the key and the mode first.
    if (has(client, "nodeClient") || "masters" in client) {
      return (command) => client.sendCommand(...([command[1], true, command] as never[]));
    }
    return (command) => client.sendCommand(...([command] as never[]));
  }
  throw new ConfigError({
    message: "client: expected an ioredis or node-redis client",
    option: "client",
  });
}

function has<K extends string>(
  client: unknown,
  method: K,
): client is Record<K, (...args: never[]) => Promise<unknown>> {
  if (typeof client !== "object" || client === null || !(method in client)) return false;
  return typeof (client as Record<string, unknown>)[method] === "function";
}
