import {
  errorFromReply,
  type FenceProbes,
  isEchoMQError,
  queueName,
  reserveKey,
  stampKey,
  unitKey,
  type V1Probe,
} from "@echomq/wire";
import type { Send } from "./client.js";

/** Units that tell a v1 queue without `meta`. */
const BARE = ["id", "wait", "delayed", "completed", "stalled-check"];

/** Reads everything the decision needs: all commands leave in one tick, so a client pipelines them. */
export async function readProbes(send: Send, prefix: string, queue: string): Promise<FenceProbes> {
  const name = v2Name(queue);
  const v1 = `${prefix}:${queue}:`;
  const ask = (...command: [string, string, ...string[]]): Promise<unknown> => probe(send, command);
  const meta = `${v1}meta`;
  const [reserveVersion, stamp, v2Meta, opened, journal, v1Meta, ...bare] = await Promise.all([
    ask("GET", reserveKey("version")),
    name === null ? NOTHING : content(ask, stampKey(name)),
    name === null ? "none" : ask("TYPE", unitKey(name, "meta")),
    name === null ? null : ask("HGET", unitKey(name, "meta"), "opened"),
    name === null ? null : ask("HMGET", reserveKey("migration", name), "run", "phase"),
    content(ask, meta),
    ...BARE.map((unit) => ask("EXISTS", v1 + unit)),
  ]);
  return {
    queue: name ?? queue,
    reserveVersion: text(reserveVersion),
    stamp,
    v2Meta: v2Meta === "none" || v2Meta === "hash" ? v2Meta : "other",
    opened: text(opened),
    migration: journalOf(journal),
    v1: [
      {
        prefix,
        braced: queue.startsWith("{") && queue.endsWith("}"),
        metaKey: meta,
        meta: v1Meta,
        bare: BARE.filter((_, at) => Number(bare[at]) === 1).map((unit) => v1 + unit),
      },
    ],
  };
}

const NOTHING: V1Probe["meta"] = { kind: "none" };

/** What stands at a key that may hold a text or a hash. */
async function content(
  ask: (...command: [string, string, ...string[]]) => Promise<unknown>,
  key: string,
): Promise<V1Probe["meta"]> {
  const [type, value, version] = await Promise.all([
    ask("TYPE", key),
    ask("GET", key),
    ask("HGET", key, "version"),
  ]);
  if (type === "none") return NOTHING;
  if (type === "string") return { kind: "string", text: text(value) ?? "" };
  return type === "hash"
    ? { kind: "hash", version: text(version) }
    : { kind: "other", type: String(type) };
}

/** A key of another type answers null; every other refusal is an error, never a pass. */
async function probe(send: Send, command: [string, string, ...string[]]): Promise<unknown> {
  try {
    return await send(command);
  } catch (error) {
    const typed = errorFromReply(
      error instanceof Error ? error.message : String(error),
      "guardV1Queue",
    );
    if (isEchoMQError(typed, "WRONGTYPE")) return null;
    // What did not come from the server, e.g. a lost connection, keeps its own class.
    throw isEchoMQError(typed, "UNKNOWN") ? error : typed;
  }
}

function journalOf(reply: unknown): FenceProbes["migration"] {
  const [run, phase] = Array.isArray(reply) ? reply.map(text) : [];
  return typeof run === "string" && typeof phase === "string" ? { run, phase } : null;
}

function text(reply: unknown): string | null {
  if (typeof reply === "string") return reply;
  return reply instanceof Uint8Array ? new TextDecoder().decode(reply) : null;
}

/** The queue's name on the v2 wire, null when v2 refuses it: then only v1's own keys can tell. */
function v2Name(queue: string): string | null {
  try {
    return queueName(queue);
  } catch {
    return null;
  }
}
