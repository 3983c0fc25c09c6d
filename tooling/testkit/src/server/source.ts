import { findServer } from "../../../setup/servers.mjs";
import { type ContainerSource, containerSource } from "../container/container.js";
import { type Engine, serverBinary } from "./binary.js";
import { spawnServer } from "./process.js";

/** Where an engine's servers come from: a program of this machine, else containers. */
export type ServerSource = ContainerSource;

const known = new Map<Engine, Promise<ServerSource>>();

/**
 * Finds the engine's servers: the named variable, then PATH, then the cache folder, and where there is
 * no program, Docker.
 * @throws Error with one sentence that tells what to install.
 */
export function serverSource(engine: Engine): Promise<ServerSource> {
  const found = known.get(engine);
  if (found) return found;
  const search = find(engine);
  known.set(engine, search);
  search.catch(() => known.delete(engine));
  return search;
}

async function find(engine: Engine): Promise<ServerSource> {
  // A variable that names no server is a mistake, and is told by the search itself.
  const program = await findServer(engine);
  const containers = program === undefined ? await containerSource(engine) : undefined;
  if (containers !== undefined) return containers;
  const binary = await serverBinary(engine);
  return {
    version: binary.version,
    spawn: (port, dir, args) => spawnServer(binary, port, dir, args),
  };
}
