import type { Command, Reply } from "../driver/types.js";

/** A client's reply as the seam wants it: an error nested in an array becomes its text. */
export function plainReply(reply: unknown): Reply {
  if (typeof reply === "string" || typeof reply === "number" || reply === null) return reply;
  if (Array.isArray(reply)) {
    for (let i = 0; i < reply.length; i++) {
      const item: unknown = reply[i];
      if (typeof item !== "string") reply[i] = plainReply(item);
    }
    return reply;
  }
  if (reply instanceof Error) return reply.message;
  if (typeof reply === "bigint") return Number(reply);
  if (typeof reply === "boolean") return reply ? 1 : 0;
  if (reply instanceof Uint8Array) return Buffer.from(reply).toString("utf8");
  return reply === undefined ? null : String(reply);
}

/**
 * The arguments from index `from` on, as strings and Buffers that share the caller's bytes.
 * @throws TypeError when an argument is neither text nor bytes.
 */
export function wireArgs(args: Command, from: number): (string | Buffer)[] {
  const out = args.slice(from);
  for (let i = 0; i < out.length; i++) {
    const arg = out[i];
    if (typeof arg === "string" || Buffer.isBuffer(arg)) continue;
    if (!(arg instanceof Uint8Array)) {
      throw new TypeError(`command argument ${i + from} must be a string or bytes`);
    }
    out[i] = Buffer.from(arg.buffer, arg.byteOffset, arg.byteLength);
  }
  return out as (string | Buffer)[];
}
