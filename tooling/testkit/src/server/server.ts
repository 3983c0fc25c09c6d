import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "./binary.js";
import { freePort } from "./port.js";
import type { ServerProcess } from "./process.js";
import { serverSource } from "./source.js";

/** What a server of its own is started with. */
export interface ServerOptions {
  /** Default `redis`. */
  readonly engine?: Engine;
  /** More arguments for the server, e.g. `["--maxmemory", "8mb"]`; they win over the defaults. */
  readonly args?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
}

/** A real server that belongs to one test. */
export interface TestServer {
  readonly engine: Engine;
  readonly port: number;
  readonly url: string;
  /** Process id of the present run. */
  readonly pid: number;
  readonly version: string;
  readonly config: { readonly host: string; readonly port: number; readonly dir: string };
  /** Sends a signal, `SIGKILL` by default, and waits for the end unless it only pauses or resumes. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends the present run and starts again on the same port and folder. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder. Calling it twice does nothing more. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const HOST = "127.0.0.1";
const PORT_ATTEMPTS = 5;
// No persistence, no log on the terminal, and DEBUG for tests that need a loading or sleeping server.
const DEFAULTS = ["--save", "", "--appendonly", "no", "--enable-debug-command", "yes"] as const;

/**
 * Starts a real server on a free port of 127.0.0.1 in a folder of its own, ended by its handle and,
 * at the latest, with the process that started it.
 * @throws Error with one sentence where the engine is not installed or the server does not start.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const engine = options.engine ?? "redis";
  const source = await serverSource(engine);
  const dir = await mkdtemp(join(tmpdir(), `echomq-${engine}-`));
  const args = [...DEFAULTS, ...(options.args ?? [])];
  try {
    const { port, first } = await onFreePort(options.port, (port) => source.spawn(port, dir, args));
    return handle({
      engine,
      version: source.version,
      port,
      dir,
      first,
      again: () => source.spawn(port, dir, args),
    });
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

async function onFreePort(
  wanted: number | undefined,
  start: (port: number) => Promise<ServerProcess>,
): Promise<{ port: number; first: ServerProcess }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wanted ?? (await freePort());
    try {
      return { port, first: await start(port) };
    } catch (error) {
      // Another process may have taken the port between the look and the start.
      const taken = error instanceof Error && error.message.includes("in use");
      if (wanted !== undefined || !taken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

interface Parts {
  readonly engine: Engine;
  readonly version: string;
  readonly port: number;
  readonly dir: string;
  readonly first: ServerProcess;
  readonly again: () => Promise<ServerProcess>;
}

function handle({ engine, version, port, dir, first, again }: Parts): TestServer {
  let current = first;
  const stop = async (): Promise<void> => {
    await current.end("SIGKILL");
    await rm(dir, { recursive: true, force: true });
  };
  return {
    engine,
    version,
    port,
    url: `redis://${HOST}:${port}`,
    config: { host: HOST, port, dir },
    get pid() {
      return current.pid;
    },
    kill: (signal = "SIGKILL") => current.end(signal),
    restart: async () => {
      await current.end("SIGTERM");
      current = await again();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
