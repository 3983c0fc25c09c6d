import type { FenceCode } from "./errors.js";
import { FenceError } from "./errors.js";
import type { FenceRefusal } from "./fence.js";
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
      word: shellWord(name),
      refusal,
    }),
  });
}

interface Said {
  readonly queue: string;
  /** What was found and where. */
  readonly at: string;
  /** The queue's name as a word of a command line. */
  readonly word: string;
  readonly refusal: FenceRefusal;
}

const MESSAGES: { readonly [C in FenceCode]: (said: Said) => string } = {
  V1_KEYSPACE: ({ queue, at, word }) =>
    `Queue ${queue} lives on the v1 wire: ${at}. ` +
    "A v2 client never works on v1 jobs or beside them; nothing was written. " +
    `See what a move would do: npx echomq-migrate plan --queue ${word}`,

  V2_KEYSPACE: ({ queue, at, word }) =>
    `Queue ${queue} lives on the EchoMQ 2 wire: ${at}. ` +
    "Jobs of a v1 client would wait here where no v2 worker looks, so it must not start. " +
    "Use @echomq/core for this queue, or another queue name. " +
    `See its state: npx echomq-migrate status --queue ${word}`,

  V1_INTRUSION: ({ queue, at, word, refusal }) =>
    `Queue ${queue} is a v2 queue without its stamp: ${at}, while ${v2Meta(refusal.probe)} exists. ` +
    "A v1 client or a manual command removed the stamp or wrote over it. " +
    "Stop what wrote there, then restore the stamp and list what else was written: " +
    `npx echomq-migrate repair --queue ${word}`,

  MAJOR_MISMATCH: ({ queue, at, refusal }) =>
    `${refusal.probe === "{emq}:version" ? "The server of queue" : "Queue"} ${queue} belongs to ` +
    `another major of the wire: ${at}, this client needs ${refusal.expected}. Majors never share keys; nothing was written. ` +
    `Use the client that wrote it: npm install @echomq/core@${majorOf(refusal.found)}`,

  FOREIGN_VERSION: ({ queue, at, refusal }) =>
    `Queue ${queue} is not recognised: ${at}, which neither EchoMQ nor BullMQ writes there. ` +
    "Another program owns that key, or it was damaged; nothing was written. " +
    `Use another queue name, or look at the key first: redis-cli TYPE ${shellWord(refusal.probe)}`,

  MIGRATION_IN_PROGRESS: ({ queue, at, word }) =>
    `Queue ${queue} is being moved to the EchoMQ 2 wire: ${at}. ` +
    "Neither v1 nor v2 clients may work on it until the move ends. " +
    `Watch it: npx echomq-migrate status --queue ${word}. ` +
    `Go on with a move that was stopped: npx echomq-migrate run --queue ${word}. ` +
    `Undo it: npx echomq-migrate rollback --queue ${word}`,

  MIGRATION_TOMBSTONE: ({ queue, at, word, refusal }) => {
    const target = parseTombstone(refusal.found)?.q;
    const where = target === undefined ? "" : `, as ${quoted(target, 128)}`;
    return (
      `Queue ${queue} has moved to the EchoMQ 2 wire${where}: ${at}. ` +
      "The old keys are closed for every client. Use @echomq/core with the new queue. " +
      `See its state: npx echomq-migrate status --queue ${target === undefined ? word : shellWord(target)}`
    );
  },
};

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
