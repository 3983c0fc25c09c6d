import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../server/binary.js";
import type { ServerProcess } from "../server/process.js";
import { answers } from "../server/ready.js";

type Library = typeof import("testcontainers");
type Runtime = Awaited<ReturnType<Library["getContainerRuntimeClient"]>>;

/** Images that hold an engine, and the version they are taken for. */
const IMAGES: Readonly<Record<Engine, { image: string; program: string; version: string }>> = {
  redis: { image: "redis:7.4", program: "redis-server", version: "7.4" },
  valkey: { image: "valkey/valkey:8.1", program: "valkey-server", version: "8.1" },
};

const READY_WITHIN_MS = 20_000;
const PAUSING: readonly string[] = ["SIGSTOP", "SIGCONT"];
// Only there do containers share the host's addresses, which clusters and replicas need.
const SHARES_NETWORK = process.platform === "linux";

/** Starts servers in containers. */
export interface ContainerSource {
  readonly version: string;
  spawn(port: number, dir: string, args: readonly string[]): Promise<ServerProcess>;
}

/**
 * Servers in containers, or `undefined` where the library is missing, Docker does not answer or
 * `ECHOMQ_CONTAINERS` is `off`.
 */
export async function containerSource(engine: Engine): Promise<ContainerSource | undefined> {
  if (process.env.ECHOMQ_CONTAINERS === "off") return undefined;
  const library = await import("testcontainers").catch(() => undefined);
  const runtime = await library?.getContainerRuntimeClient().catch(() => undefined);
  if (library === undefined || runtime === undefined) return undefined;
  return {
    version: IMAGES[engine].version,
    spawn: (port, dir, args) => spawnContainer(library, runtime, engine, port, dir, args),
  };
}

async function spawnContainer(
  library: Library,
  runtime: Runtime,
  engine: Engine,
  port: number,
  dir: string,
  args: readonly string[],
): Promise<ServerProcess> {
  const { image, program } = IMAGES[engine];
  const bind = SHARES_NETWORK ? "127.0.0.1" : "0.0.0.0";
  const own = ["--port", String(port), "--bind", bind, "--protected-mode", "no", "--dir", dir];
  const plain = new library.GenericContainer(image)
    .withEntrypoint([program])
    .withCommand([...own, ...args])
    .withBindMounts([{ source: dir, target: dir }]);
  // The folder belongs to this user, and must be removable afterwards.
  const user = process.getuid?.();
  if (user !== undefined) plain.withUser(`${user}:${process.getgid?.() ?? user}`);
  const started = await (SHARES_NETWORK
    ? plain.withNetworkMode("host")
    : plain.withExposedPorts({ container: port, host: port })
  ).start();
  const container = runtime.container.getById(started.getId());
  const running = async (): Promise<number> => {
    const { State } = await runtime.container.inspect(container);
    return State.Running ? State.Pid : 0;
  };
  const pid = await running();
  const end = Date.now() + READY_WITHIN_MS;
  // Inside, the server is the first process.
  while (!(await answers(port, 1))) {
    if ((await running()) !== 0 && Date.now() < end) {
      await sleep(50);
      continue;
    }
    const log = String(await container.logs({ stdout: true, stderr: true, tail: 20 }));
    await runtime.container.remove(container, { removeVolumes: true });
    throw new Error(`the server on port ${port} did not start: ${log.trim().slice(-500)}`);
  }
  return {
    pid,
    end: async (signal) => {
      if ((await running().catch(() => 0)) === 0) return;
      await container.kill({ signal });
      if (PAUSING.includes(signal)) return;
      await container.wait();
      await runtime.container.remove(container, { removeVolumes: true });
    },
  };
}
