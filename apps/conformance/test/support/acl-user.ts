import { once } from "node:events";
import { connect } from "node:net";
import type { RedisDriver } from "@echomq/scripts";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { type DriverName, openDriver } from "../../src/connect/drivers.js";
import { parseMonitorLine } from "../../src/monitor/line.js";
import { conformance } from "./run.js";

/** Everything a user of the server may do, as rules; changed in tests. */
export interface AclUser {
  readonly name: string;
  /** Address with its name and password. */
  readonly url: string;
  readonly rules: readonly string[];
}

/** What the two engines say where a right is missing, outside scripts and inside. */
export const REFUSED = /NOPERM|The user executing the script can't|ACL failure in script/;

/** Prints the line of a role. */
export async function aclLine(...argv: readonly string[]): Promise<string> {
  const { code, out, err } = await conformance(["acl", ...argv]);
  if (code !== 0) throw new Error(err);
  return out.trimEnd().replace(">PASSWORD", ">secret");
}

/** Makes the user of a role by pasting the printed line, which the server takes apart as redis-cli does. */
export async function makeUser(url: string, ...argv: readonly string[]): Promise<AclUser> {
  const line = await aclLine(...argv);
  await paste(url, line);
  const [, , name = "", ...rules] = line.split(" ");
  return { name, url: url.replace("//", `//${name}:secret@`), rules };
}

/** Sends a line as it is typed. */
export async function paste(url: string, line: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`${line}\r\n`);
  const [reply] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  if (!reply.toString().startsWith("+OK")) throw new Error(`${reply.toString().trim()}: ${line}`);
}

/** Gives a user these rules and no others. */
export async function setRules(
  admin: Redis,
  name: string,
  rules: readonly string[],
): Promise<void> {
  await admin.call("ACL", "SETUSER", name, "reset", ...rules);
}

/** A driver of a user, closed with the test. */
export async function driverOf(
  user: AclUser,
  driver: DriverName = "ioredis",
): Promise<RedisDriver> {
  const opened = await openDriver(driver, user.url);
  onTestFinished(() => opened.close("now"));
  return opened;
}

export function adminOf(url: string): Redis {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
}

/** What the server refused to a user: commands and keys. */
export async function refusedTo(admin: Redis, name: string): Promise<readonly string[]> {
  const rows = (await admin.call("ACL", "LOG", "1000")) as unknown[][];
  return rows.flatMap((row) => {
    const field = (key: string): string => String(row[row.indexOf(key) + 1]);
    return field("username") === name ? [`${field("reason")} ${field("object")}`] : [];
  });
}

/** Everything the users of roles send during `work`, and what their scripts call; each call once. */
export async function recorded(
  url: string,
  admin: Redis,
  work: () => Promise<void>,
): Promise<readonly (readonly string[])[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.write("MONITOR\r\n");
  await once(socket, "data");
  const others = new Set(await defaultClients(admin));
  await work();
  for (const address of await defaultClients(admin)) others.add(address);
  const end = `end-${Math.random()}`;
  await admin.echo(end);
  while (!text.includes(end)) await once(socket, "data");
  socket.destroy();
  const seen = new Map<string, readonly string[]>();
  let ours = false;
  for (const line of text.split("\r\n")) {
    const parsed = parseMonitorLine(line.slice(1));
    if (parsed === null) continue;
    // What a script calls follows the call of the script.
    if (parsed.source !== "lua") ours = !others.has(parsed.source);
    if (ours) seen.set(JSON.stringify(parsed.args), parsed.args);
  }
  return [...seen.values()];
}

async function defaultClients(admin: Redis): Promise<readonly string[]> {
  const lines = String(await admin.call("CLIENT", "LIST")).split("\n");
  return lines
    .filter((line) => line.includes(" user=default "))
    .map((line) => / addr=(\S+)/.exec(line)?.[1] ?? "");
}
