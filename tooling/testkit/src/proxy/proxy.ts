import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type Direction, Link, type LinkHost } from "./link.js";

/** Decides by a chunk of the server's answer, and what its client sent last, whether it gets lost. */
export type ReplyFilter = (reply: Buffer, request: Buffer) => boolean;

/** A TCP proxy in front of one server, whose network the test can break. */
export interface TcpProxy {
  readonly host: string;
  readonly port: number;
  /** `redis://` address of the proxy. */
  readonly url: string;
  /** Connections open now. */
  readonly connections: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Bytes forwarded so far, to the server and to clients. */
  readonly bytes: { readonly up: number; readonly down: number };
  /** Ends every connection, by a reset unless told otherwise. New ones are accepted. */
  cut(how?: "reset" | "close"): void;
  /**
   * Keeps and accepts connections but forwards nothing, in one direction or both. What was sent
   * meanwhile arrives after `pass`, as it does when a network comes back.
   */
  halfOpen(direction?: Direction | "both"): void;
  /** Holds every chunk back this many milliseconds, on each way or on one. */
  delay(ms: number, direction?: Direction | "both"): void;
  /**
   * Swallows the next `what` chunks of the server, or the first the filter picks, then cuts the
   * connections that lost one. Resolves when it has. A reply of some hundred bytes is one chunk.
   */
  dropReplies(what: number | ReplyFilter): Promise<void>;
  /** Forwards everything again; what was held back goes out first. */
  pass(): void;
  /** Leads new connections to another server, as a name does that points elsewhere; open ones stay. */
  retarget(to: { readonly host?: string; readonly port: number }): void;
  /** Ends every connection and stops listening. Calling it twice does nothing more. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Drop {
  left: number;
  readonly filter: ReplyFilter;
  readonly hurt: Set<Link>;
  readonly done: () => void;
}

const HOST = "127.0.0.1";
const WAYS = { up: ["up"], down: ["down"], both: ["up", "down"] } as const;

/** Starts a proxy on a free port of 127.0.0.1 in front of a server. */
export async function startProxy(server: { host?: string; port: number }): Promise<TcpProxy> {
  let target = { host: HOST, ...server };
  const mode = { up: { held: false, delayMs: 0 }, down: { held: false, delayMs: 0 } };
  const bytes = { up: 0, down: 0 };
  const links = new Set<Link>();
  let accepted = 0;
  let drop: Drop | undefined;

  const linkHost: LinkHost = {
    get target() {
      return target;
    },
    mode: (direction) => mode[direction],
    forwarded: (direction, count) => {
      bytes[direction] += count;
    },
    swallow: (link, reply) => {
      if (drop?.filter(reply, link.request) !== true) return false;
      drop.hurt.add(link);
      drop.left -= 1;
      if (drop.left === 0) {
        for (const one of drop.hurt) one.cut("reset");
        drop.done();
        drop = undefined;
      }
      return true;
    },
    gone: (link) => links.delete(link),
  };
  // Half-open allowed: the end of one direction is forwarded like data, not answered by ours.
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    accepted += 1;
    links.add(new Link(client, linkHost));
  });
  listener.listen(0, HOST);
  await once(listener, "listening");
  const own = (listener.address() as AddressInfo).port;

  const cut = (how: "reset" | "close" = "reset"): void => {
    for (const link of links) link.cut(how);
  };
  const close = async (): Promise<void> => {
    cut("close");
    if (!listener.listening) return;
    await new Promise((resolve) => listener.close(resolve));
  };
  return {
    host: HOST,
    port: own,
    url: `redis://${HOST}:${own}`,
    get connections() {
      return links.size;
    },
    get accepted() {
      return accepted;
    },
    bytes,
    cut,
    halfOpen: (direction = "both") => {
      for (const way of WAYS[direction]) mode[way].held = true;
    },
    delay: (ms, direction = "both") => {
      for (const way of WAYS[direction]) mode[way].delayMs = ms;
      for (const link of links) link.flush();
    },
    dropReplies: (what) =>
      new Promise((done) => {
        const [left, filter] = typeof what === "number" ? [what, () => true] : [1, what];
        drop = { left, filter, hurt: new Set(), done };
      }),
    pass: () => {
      drop = undefined;
      for (const way of WAYS.both) mode[way] = { held: false, delayMs: 0 };
      for (const link of links) link.flush();
    },
    retarget: (to) => {
      target = { host: HOST, ...to };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
