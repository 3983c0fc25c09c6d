import { Redis } from "ioredis";

/** Keyspaces as real v1 programs leave them, by one kind of client alone. */

/** Makes a queue by one kind of client, and leaves when what it writes stands. */
export async function make(client, by) {
  if (by === "queue") {
    await client.queue.waitUntilReady();
    await client.queue.add("first", { by });
    return;
  }
  if (by === "flow") {
    await client.flow.add({ name: "first", queueName: client.name, data: { by } });
    return;
  }
  await client.worker.waitUntilReady();
  void client.worker.run().catch(() => undefined);
  // A worker writes in the background; its stalled check is the one key every line leaves.
  await appears(client, `${client.prefix}:${client.name}:stalled-check`);
}

async function appears({ cluster, options: { connection } }, key) {
  const redis = cluster ? connection.duplicate() : new Redis(connection);
  try {
    for (let looks = 0; looks < 200; looks += 1) {
      if ((await redis.exists(key)) === 1) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`no ${key} after two seconds`);
  } finally {
    redis.disconnect();
  }
}
