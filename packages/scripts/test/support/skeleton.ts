import { Redis } from "ioredis";
import {
  type Command,
  DriverFault,
  type DriverState,
  type RedisDriver,
  type Reply,
  type Settled,
} from "../../src/driver/types.js";

/** Opens a driver on the server at `url`. */
export async function acmeDriver(url: string): Promise<RedisDriver> {
  const lane = new AcmeLane(url);
  await lane.connect();
  return lane;
}

class AcmeLane implements RedisDriver {
  readonly info = { name: "acme", cluster: false, protocol: 2 } as const;
  state: DriverState = { status: "connecting", epoch: 0 };
  readonly #listeners = new Set<(state: DriverState) => void>();
  readonly #pending = new Set<Promise<unknown>>();
  #client: Redis | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cut: () => void = () => {};

  constructor(private readonly url: string) {}

  // 1. One client object per connection. It neither reconnects, nor queues, nor sends again.
  async connect(): Promise<void> {
    // RESP2, whatever the client's default is: replies keep one shape.
    const options = {
      protocol: 2,
      lazyConnect: true,
      enableOfflineQueue: false,
      retryStrategy: () => null,
    } as const;
    const client = new Redis(this.url, options);
    let why = new Error("connection closed");
    client.on("error", (error) => {
      why = error;
    });
    client.on("end", () => client === this.#client && this.#lost(why));
    try {
      await client.connect();
    } catch {
      client.disconnect();
      throw new DriverFault("offline", why.message, why);
    }
    if (this.state.status === "closed") return client.disconnect();
    this.#client = client;
    this.#tell({ status: "ready", epoch: this.state.epoch + 1 });
  }

  // 2. A lost connection is told, and another is opened until the owner closes the lane.
  #lost(error: Error): void {
    this.#client = undefined;
    if (this.state.status === "closed") return;
    const retry = (): unknown => this.connect().catch((next) => this.#lost(next));
    this.#timer = setTimeout(retry, 100 + Math.random() * 400);
    this.#tell({ status: "reconnecting", epoch: this.state.epoch, error });
  }

  // 3. A command is sent at once or not at all; what fails says how.
  async command(args: Command): Promise<Reply> {
    const client = this.#client;
    if (this.state.status === "closed") throw new DriverFault("closed", "the lane is closed");
    if (client?.status !== "ready") throw new DriverFault("offline", "no connection");
    const [name, ...rest] = args.map((arg) => (typeof arg === "string" ? arg : Buffer.from(arg)));
    const answer = client.call(String(name).toUpperCase(), rest);
    this.#pending.add(answer);
    try {
      return plain(await answer);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      throw new DriverFault(client.status === "ready" ? "reply" : "connection", text, error);
    } finally {
      this.#pending.delete(answer);
    }
  }

  // 4. A pipeline never rejects: each command has its own outcome. (On a cluster, split by slot.)
  pipeline(commands: readonly Command[]): Promise<Settled<Reply>[]> {
    const outcome = (args: Command): Promise<Settled<Reply>> =>
      this.command(args).then(
        (value) => ({ ok: true, value }),
        (error: Error) => ({ ok: false, error }),
      );
    return Promise.all(commands.map(outcome));
  }

  // 5. Every lane is a connection of its own.
  async fork(): Promise<RedisDriver> {
    if (this.state.status === "closed") throw new DriverFault("closed", "the lane is closed");
    return acmeDriver(this.url);
  }

  onState(listener: (state: DriverState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // 6. Close resolves in every state, and nothing stays behind.
  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    if (this.state.status !== "closed") this.#tell({ status: "closed", epoch: this.state.epoch });
    clearTimeout(this.#timer);
    if (mode === "now") this.#cut();
    else if (this.#pending.size > 0) {
      const late = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 2000);
        this.#cut = () => resolve(clearTimeout(timer));
      });
      await Promise.race([Promise.allSettled(this.#pending), late]);
      this.#cut();
    }
    this.#client?.disconnect();
    this.#client = undefined;
  }

  #tell(state: DriverState): void {
    this.state = state;
    for (const listener of [...this.#listeners]) listener(state);
  }
}

/** An error nested in an array becomes its text; the rest of a RESP2 reply is plain already. */
function plain(reply: unknown): Reply {
  if (Array.isArray(reply)) return reply.map(plain);
  return reply instanceof Error ? reply.message : (reply as Reply);
}
