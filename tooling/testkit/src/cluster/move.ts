import type { Redis } from "ioredis";
import type { TestServer } from "../server/server.js";
import { ask, until } from "./admin.js";
import { nodeId } from "./form.js";

/** How a slot is moved. */
export interface MoveOptions {
  /** Keys of one `MIGRATE`. Default 100. */
  readonly batch?: number;
  /** Called while the slot is open at both nodes: before the first keys go, and after each batch. */
  readonly during?: (moved: number) => Promise<void> | void;
}

const MIGRATE_TIMEOUT_MS = 5_000;

/** The port of the master that one node thinks serves a slot. */
export async function ownerPort(client: Redis, slot: number): Promise<number | undefined> {
  const ranges = (await client.call("CLUSTER", "SLOTS")) as [number, number, [string, number]][];
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
}

/** Moves a slot with its keys as an operator does, and waits until every node knows the new owner. */
export async function moveSlot(
  nodes: readonly TestServer[],
  slot: number,
  from: TestServer,
  to: TestServer,
  { batch = 100, during }: MoveOptions = {},
): Promise<void> {
  if (from === to) return;
  const [fromId, toId] = await Promise.all([nodeId(from), nodeId(to)]);
  const set = (server: TestServer, ...how: string[]): Promise<unknown> =>
    ask(server, (client) => client.call("CLUSTER", "SETSLOT", String(slot), ...how));
  await set(to, "IMPORTING", fromId);
  await set(from, "MIGRATING", toId);
  let moved = 0;
  await during?.(moved);
  await ask(from, async (client) => {
    for (;;) {
      const keys = (await client.call(
        ...(["CLUSTER", "GETKEYSINSLOT", String(slot), String(batch)] as const),
      )) as string[];
      if (keys.length === 0) return;
      const target = [to.config.host, String(to.port), "", "0", String(MIGRATE_TIMEOUT_MS)];
      await client.call("MIGRATE", ...target, "KEYS", ...keys);
      moved += keys.length;
      await during?.(moved);
    }
  });
  // The new owner first: until it knows, the old one would send clients in a circle.
  for (const server of [to, from]) await set(server, "NODE", toId);
  for (const server of nodes) {
    await ask(server, (client) =>
      until(async () => {
        const port = await ownerPort(client, slot);
        return port === to.port ? undefined : `${server.url} thinks slot ${slot} is at ${port}`;
      }),
    );
  }
}
