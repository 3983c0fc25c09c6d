import type { Redis } from "ioredis";

/** Kills every connection whose name ends in `role`, as an operator or a proxy would; how many there were. */
export async function killLanes(client: Redis, role: string): Promise<number> {
  const list = String(await client.client("LIST"));
  const ids = list
    .split("\n")
    .filter((line) => new RegExp(`(?:^| )name=\\S*:${role}(?: |$)`).test(line))
    .map((line) => /(?:^| )id=(\d+)/.exec(line)?.[1] ?? "");
  for (const id of ids) await client.call("CLIENT", "KILL", "ID", id);
  return ids.length;
}

/** How many connections that are not the test's own stand open. */
export async function lanesOpen(client: Redis): Promise<number> {
  const list = String(await client.client("LIST"));
  return list
    .split("\n")
    .filter((line) => /(?:^| )name=\S*:(?:main|lease|blocking|events)(?: |$)/.test(line)).length;
}
