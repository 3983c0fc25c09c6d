import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy that counts the chunks clients send and can hold back what the server answers. */
export interface CountingProxy {
  readonly url: string;
  /** Chunks read from clients since the start or the last `reset`. */
  chunks(): number;
  reset(): void;
  /** From now on answers are dropped. */
  mute(on: boolean): void;
  /** Ends every connection. */
  cut(): void;
  end(): void;
}

/** Puts a proxy in front of the server at `target`. */
export async function countingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let chunks = 0;
  let muted = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      chunks++;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (!muted) client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${bound.port}`,
    chunks: () => chunks,
    reset: () => {
      chunks = 0;
    },
    mute: (on) => {
      muted = on;
    },
    cut,
    end: () => {
      cut();
      server.close();
    },
  };
}
