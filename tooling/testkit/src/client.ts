import { Redis } from "ioredis";

/**
 * A client of the test kit's own, apart from the drivers under test. It never waits for a server that
 * is gone.
 */
export async function openClient(url: string, name: string): Promise<Redis> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectionName: name,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  });
  // Calls report their own failure; without a listener the client would print it as well.
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    throw error;
  }
  return client;
}
