import { createRequire } from "node:module";
import { arch, cpus, platform, release, totalmem } from "node:os";

/** Where and with what the numbers were taken. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly redis: string;
  readonly echomq: string;
  readonly peer: string;
  readonly ioredis: string;
}

const require = createRequire(import.meta.url);

/** Describes this machine; `info` is the server's whole `INFO`. */
export function machine(info: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    redis: /^redis_version:(\S+)/m.exec(info)?.[1] ?? "unknown",
    echomq: versionOf("@echomq/core"),
    peer: `bullmq ${versionOf("bullmq-67")}`,
    ioredis: versionOf("ioredis"),
  };
}

function versionOf(name: string): string {
  const { version } = require(`${name}/package.json`) as { readonly version: string };
  return version;
}
