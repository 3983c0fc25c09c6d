import { connect, type Socket } from "node:net";
import { Pipe, type PipeMode } from "./pipe.js";

/** `up` is from the client to the server, `down` the way back. */
export type Direction = "up" | "down";

/** What a link asks of its proxy. */
export interface LinkHost {
  readonly target: { readonly host: string; readonly port: number };
  mode(direction: Direction): PipeMode;
  forwarded(direction: Direction, bytes: number): void;
  /** True when this reply is to be swallowed. */
  swallow(link: Link, reply: Buffer): boolean;
  gone(link: Link): void;
}

/** One connection through the proxy: the client's socket and the server's. */
export class Link {
  /** What the client sent last. */
  request: Buffer = Buffer.alloc(0);
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #up: Pipe;
  readonly #down: Pipe;

  constructor(client: Socket, host: LinkHost) {
    this.#client = client;
    const server = connect({ ...host.target, allowHalfOpen: true });
    this.#server = server;
    const pipe = (to: Socket, direction: Direction): Pipe =>
      new Pipe(
        to,
        () => host.mode(direction),
        (bytes) => host.forwarded(direction, bytes),
      );
    this.#up = pipe(server, "up");
    this.#down = pipe(client, "down");
    client.on("data", (chunk: Buffer) => {
      this.request = chunk;
      this.#up.push(chunk);
    });
    client.on("end", () => this.#up.push(null));
    server.on("data", (chunk: Buffer) => {
      if (!host.swallow(this, chunk)) this.#down.push(chunk);
    });
    server.on("end", () => this.#down.push(null));
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // A reset of one side is one of the other; a held direction hides it, as a dead link would.
      socket.on("error", () => this.#broke(socket, host));
      socket.on("close", () => {
        if (client.destroyed && server.destroyed) host.gone(this);
      });
    }
  }

  flush(): void {
    this.#up.flush();
    this.#down.flush();
  }

  /** Ends both sides at once: the peers see a reset, or an orderly end. */
  cut(how: "reset" | "close"): void {
    this.#up.stop();
    this.#down.stop();
    for (const socket of [this.#client, this.#server]) {
      if (how === "reset" && !socket.connecting) socket.resetAndDestroy();
      else socket.destroy();
    }
  }

  #broke(socket: Socket, host: LinkHost): void {
    const direction: Direction = socket === this.#client ? "up" : "down";
    if (host.mode(direction).held) (direction === "up" ? this.#up : this.#down).push(null);
    else this.cut("reset");
  }
}
