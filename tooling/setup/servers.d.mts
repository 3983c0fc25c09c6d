export type Engine = "redis" | "valkey";

export interface ServerBinary {
  readonly command: string;
  readonly env: Record<string, string>;
  readonly version: string;
}

export function findServer(engine: Engine): Promise<ServerBinary | undefined>;
export function ensureServers(engines: readonly Engine[]): Promise<void>;
export function installAdvice(engine: Engine): string;
