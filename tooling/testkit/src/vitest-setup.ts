import type { Engine } from "./server/binary.js";
import { startServer } from "./server/server.js";
import { SHARED_VARIABLES, URL_VARIABLES } from "./server/shared.js";

/** Starts the servers a test run shares and tells its workers their addresses. */
export async function setup(): Promise<() => Promise<void>> {
  const engines: Engine[] = ["redis", "valkey"];
  const wanted = engines.filter((engine) => !process.env[URL_VARIABLES[engine]]);
  const servers = await Promise.all(wanted.map((engine) => startServer({ engine })));
  // Workers are forked later and inherit these.
  for (const server of servers) process.env[SHARED_VARIABLES[server.engine]] = server.url;
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
}
