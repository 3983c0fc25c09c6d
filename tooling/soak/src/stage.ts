import { Queue } from "@echomq/core";
import {
  type Engine,
  startProxy,
  startServer,
  type TcpProxy,
  type TestServer,
} from "@echomq/testkit";
import { type Unit, unitKey } from "@echomq/wire";
import { Redis } from "ioredis";

/** Names of the queues of a run. */
export const QUEUES = { main: "soak", side: "soak-side", letters: "soak-letters" } as const;

/** Events are read and trimmed by the soak itself, so none is lost to a length. */
const EVENTS_MAX = 1_000_000_000;

/** The server, the proxy before it, and the soak's own connections, which no fault is aimed at. */
export class Stage {
  readonly server: TestServer;
  readonly proxy: TcpProxy;
  readonly control: Redis;
  readonly queue: Queue;
  readonly side: Queue;
  readonly letters: Queue;

  private constructor(server: TestServer, proxy: TcpProxy) {
    this.server = server;
    this.proxy = proxy;
    // Waits for a server that is gone, for as long as it takes.
    this.control = new Redis(server.url, {
      connectionName: "soak",
      maxRetriesPerRequest: null,
      retryStrategy: () => 50,
    });
    this.control.on("error", () => undefined);
    const open = (name: string): Queue => {
      return new Queue(name, { connection: server.url, retryTime: 60_000 });
    };
    this.queue = open(QUEUES.main);
    this.side = open(QUEUES.side);
    this.letters = open(QUEUES.letters);
  }

  /**
   * Starts a server that keeps what it has answered: `appendfsync always`, for what is proven is that
   * nothing acknowledged is lost, and `everysec` may lose a second of it when the server is killed.
   */
  static async open(engine: Engine): Promise<Stage> {
    const args = ["--appendonly", "yes", "--appendfsync", "always"];
    const server = await startServer({ engine, args });
    const stage = new Stage(server, await startProxy({ port: server.port }));
    // The first write opens the queue.
    for (const queue of [stage.queue, stage.side, stage.letters]) await queue.resume();
    await stage.control.hset(stage.unit("meta"), "events.max", String(EVENTS_MAX));
    return stage;
  }

  unit(unit: Unit, q: string = QUEUES.main): string {
    return unitKey(q, unit);
  }

  async close(): Promise<void> {
    await Promise.all([this.queue, this.side, this.letters].map((queue) => queue.close()));
    this.control.disconnect();
    await this.proxy.close();
    await this.server.stop();
  }
}
