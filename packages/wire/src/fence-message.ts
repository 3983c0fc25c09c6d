import type { FenceCode } from "./errors.js";
import { FenceError } from "./errors.js";
import { type FenceRefusal, NO_STAMP } from "./fence.js";
import { bare } from "./names.js";
import { isPrintable, printable, quoted } from "./printable.js";
import { parseTombstone } from "./tombstone.js";
import { parseVersion } from "./versions.js";

/** Builds the error of a refusal; its message says what was found, what it means and what to do. */
export function fenceError(refusal: FenceRefusal, queue: string): FenceError {
  const { code, found, expected, probe } = refusal;
  const name = bare(queue);
  return new FenceError({
    code,
    queue: name,
    found,
    expected,
    probe,
    message: MESSAGES[code]({
      queue: quoted(name, 128),
      at: `found ${found} at key ${printable(probe, 256)}`,
      run: (command, from = name) => tool(command, from),
      place: v1Place(probe, name),
      refusal,
    }),
  });
}

interface Said {
  readonly queue: string;
  /** What was found and where. */
  readonly at: string;
  /** The command line of the migration tool; the queue is this one unless `from` is another. */
  readonly run: (command: string, from?: string | V1Place) => string;
  /** How v1 spells this queue, where the key that decided is one of v1's. */
  readonly place: V1Place | undefined;
  readonly refusal: FenceRefusal;
}

/** A queue as v1 spells it, and its prefix: the tool finds v1's keys only when told both. */
interface V1Place {
  readonly queue: string;
  readonly prefix: string;
}

const MESSAGES: { readonly [C in FenceCode]: (said: Said) => string } = {
  V1_KEYSPACE: ({ queue, at, run, place }) =>
    `Queue ${queue} lives on the v1 wire: ${at}. ` +
    "A v2 client never works on v1 jobs or beside them; nothing was written. " +
    "Move the queue, or use another name. " +
    `See what a move would do: ${run("plan", place)}`,

  V2_KEYSPACE: ({ queue, at, run }) =>
    `Queue ${queue} lives on the EchoMQ 2 wire: ${at}. ` +
    "Jobs of a v1 client would wait here where no v2 worker looks, so it must not start. " +
    "Use @echomq/core for this queue, or another queue name. " +
    `See its state: ${run("status")}`,

  V1_INTRUSION: ({ queue, at, run, place, refusal }) =>
    `Queue ${queue} is a v2 queue without its stamp: ${at}, while ${v2Meta(refusal.probe)} exists. ` +
    "A v1 client or a manual command removed the stamp or wrote over it; nothing was written. " +
    "Stop what wrote there, then restore the stamp and list what else was written: " +
    run("repair", refusal.found === NO_STAMP ? undefined : place),

  MAJOR_MISMATCH: ({ queue, at, refusal }) =>
    `${refusal.probe === "{emq}:version" ? "The server of queue" : "Queue"} ${queue} belongs to ` +
    `another major of the wire: ${at}, this client needs ${refusal.expected}. Majors never share keys; nothing was written. ` +
    `Use the client that wrote it: npm install @echomq/core@${majorOf(refusal.found)}`,

  FOREIGN_VERSION: ({ queue, at, refusal }) =>
    `Queue ${queue} is not recognised: ${at}, which neither EchoMQ nor BullMQ writes there. ` +
    "Another program owns that key, or it was damaged; nothing was written. " +
    `Use another queue name, or look at the key first: redis-cli TYPE ${shellWord(refusal.probe)}`,

  // Not the command that goes on: with v1's prefix unknown here it could name another queue's keys.
  MIGRATION_IN_PROGRESS: ({ queue, at, run, place, refusal }) =>
    `Queue ${queue} is being moved to the EchoMQ 2 wire: ${at}. ` +
    "Neither v1 nor v2 clients may work on it until the move ends; nothing was written. " +
    "Start again when it has ended. If nobody runs it, see how far it came and how to finish it or " +
    `give the queue back to v1: ${run("status", parseTombstone(refusal.found) === null ? undefined : place)}`,

  MIGRATION_TOMBSTONE: ({ queue, at, run, refusal }) => {
    const target = parseTombstone(refusal.found)?.q;
    const where = target === undefined ? "" : `, as ${quoted(target, 128)}`;
    return (
      `Queue ${queue} has moved to the EchoMQ 2 wire${where}: ${at}. ` +
      "The old keys are closed for every client. Use @echomq/core with the new queue. " +
      `See its state: ${run("status", target)}`
    );
  },
};

/** Runs wherever npm is; a bare `npx echomq-migrate` would fetch whatever package has that name. */
function tool(command: string, from: string | V1Place): string {
  const { queue, prefix } = typeof from === "string" ? { queue: from, prefix: "bull" } : from;
  const at = prefix === "bull" ? "" : ` --prefix ${shellWord(prefix)}`;
  return `npx -p @echomq/migrate -p ioredis echomq-migrate ${command} --queue ${shellWord(queue)}${at}`;
}

/** Reads `<prefix>:<queue>:<unit>`; the queue's name is known, so a colon in the prefix does not matter. */
function v1Place(probe: string, name: string): V1Place | undefined {
  for (const queue of [`{${name}}`, name]) {
    const at = probe.lastIndexOf(`:${queue}:`);
    if (at > 0) return { queue, prefix: probe.slice(0, at) };
  }
  return undefined;
}

function v2Meta(stamp: string): string {
  return printable(stamp.replace(/meta$/, "v2:meta"), 256);
}

function majorOf(text: string): string {
  const version = parseVersion(text);
  return version.family === "echomq" ? String(version.major) : "latest";
}

/** Quotes a text so that a POSIX shell takes it as one word; what is not printable is escaped. */
function shellWord(text: string): string {
  const safe = isPrintable(text) && text.length <= 256 ? text : printable(text, 256);
  return /^[\w.@%+=/:-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}
