import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the range the system hands to outgoing connections, and low enough for a cluster bus port.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A port of 127.0.0.1 nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
