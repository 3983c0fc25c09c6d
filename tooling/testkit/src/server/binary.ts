import { type Engine, findServer, installAdvice } from "../../../setup/servers.mjs";

export type { Engine } from "../../../setup/servers.mjs";

/** How to start an engine's server: the command and the variables it needs. */
export interface ServerBinary {
  readonly command: string;
  readonly env: Record<string, string>;
  readonly version: string;
}

const found = new Map<Engine, Promise<ServerBinary>>();

/**
 * Finds the engine's server: the named variable, then PATH, then the cache folder.
 * @throws Error with one sentence that tells what to install.
 */
export function serverBinary(engine: Engine): Promise<ServerBinary> {
  const known = found.get(engine);
  if (known) return known;
  const search = findServer(engine).then((binary) => {
    if (binary) return binary;
    throw new Error(`${installAdvice(engine)} Or run: node tooling/setup/run.mjs servers`);
  });
  found.set(engine, search);
  search.catch(() => found.delete(engine));
  return search;
}
