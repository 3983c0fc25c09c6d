import type { Redis } from "ioredis";

/** What the server counted up to a moment. */
export interface Counters {
  /** Calls of every command, those inside scripts included, without our own `INFO`. */
  readonly commands: number;
  /** CPU time of the server process, in microseconds. */
  readonly cpu: number;
  /** Bytes received and sent. */
  readonly bytes: number;
}

// "$" length CRLF ... CRLF around an INFO reply, with a length of four digits.
const FRAME_BYTES = 9;
const STATS_REQUEST_BYTES = "*2\r\n$4\r\ninfo\r\n$5\r\nstats\r\n".length;

/** Counters before the work. Bytes are read last and leave out the reply they came in. */
export async function countersBefore(control: Redis): Promise<Counters> {
  const commands = commandsOf(await control.info("commandstats"));
  const cpu = cpuOf(await control.info("cpu"));
  const stats = await control.info("stats");
  return { commands, cpu, bytes: bytesOf(stats) + Buffer.byteLength(stats) + FRAME_BYTES };
}

/** Counters after the work. Bytes are read first. */
export async function countersAfter(control: Redis): Promise<Counters> {
  const bytes = bytesOf(await control.info("stats")) - STATS_REQUEST_BYTES;
  const cpu = cpuOf(await control.info("cpu"));
  const commands = commandsOf(await control.info("commandstats"));
  return { commands, cpu, bytes };
}

/** What was counted between two readings, for each of `jobs`. */
export function perJob(before: Counters, after: Counters, jobs: number): Counters {
  return {
    commands: (after.commands - before.commands) / jobs,
    cpu: (after.cpu - before.cpu) / jobs,
    bytes: (after.bytes - before.bytes) / jobs,
  };
}

function commandsOf(info: string): number {
  let sum = 0;
  for (const [, name, calls] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (name !== "info") sum += Number(calls);
  }
  return sum;
}

function cpuOf(info: string): number {
  return (field(info, "used_cpu_sys") + field(info, "used_cpu_user")) * 1e6;
}

function bytesOf(info: string): number {
  return field(info, "total_net_input_bytes") + field(info, "total_net_output_bytes");
}

/** A number of an `INFO` reply. */
export function field(info: string, name: string): number {
  const text = new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1];
  if (text === undefined) throw new Error(`INFO of this server does not tell ${name}`);
  return Number(text);
}
