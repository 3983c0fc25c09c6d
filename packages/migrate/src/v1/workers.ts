import { isEchoMQError } from "@echomq/wire";
import type { Context } from "../context.js";

/** A v1 client that is connected now. */
export interface V1Client {
  readonly address: string;
  /** What the worker calls itself, empty for none. */
  readonly name: string;
  readonly kind: "worker" | "events";
  /** Seconds since its last command. */
  readonly idle: number;
}

/**
 * v1 clients of this queue by their connection names: a worker names its blocking connection
 * `<prefix>:<base64 of the queue>` and, when it has a name, `:w:<name>`. Queues and producers name none.
 * @throws ServerError `NOPERM` when the server does not let this client read the list.
 */
async function v1Clients(ctx: Context): Promise<V1Client[]> {
  const list = await ctx.dispatcher.command(
    ["CLIENT", "LIST"],
    {},
    { op: "migrate", repeatable: true },
  );
  const own = `${ctx.prefix}:${Buffer.from(ctx.queue).toString("base64")}`;
  return String(list)
    .split("\n")
    .flatMap((line): V1Client[] => {
      const field = (key: string): string =>
        new RegExp(`(?:^| )${key}=([^ ]*)`).exec(line)?.[1] ?? "";
      const name = field("name");
      const tail = name.startsWith(own) ? name.slice(own.length) : null;
      if (tail === null) return [];
      const client = { address: field("addr"), idle: Number(field("idle")) };
      if (tail === ":qe") return [{ ...client, name: "", kind: "events" }];
      if (tail === "") return [{ ...client, name: "", kind: "worker" }];
      return tail.startsWith(":w:") ? [{ ...client, name: tail.slice(3), kind: "worker" }] : [];
    });
}

/** As {@link v1Clients}; null when the server does not let this client look. */
export async function v1ClientsIfAllowed(ctx: Context): Promise<V1Client[] | null> {
  try {
    return await v1Clients(ctx);
  } catch (error) {
    // Some hosted servers do not know the command at all.
    const unknown = error instanceof Error && error.message.startsWith("ERR unknown");
    if (isEchoMQError(error, "NOPERM") || unknown) return null;
    throw error;
  }
}
