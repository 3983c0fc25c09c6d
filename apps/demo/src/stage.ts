import { fileURLToPath } from "node:url";
import { startServer } from "@echomq/testkit";
import { Redis } from "ioredis";
import type { Cleanup } from "./cleanup.js";
import {
  foreignKeys,
  QUEUE,
  type ReserveBefore,
  removeOwnKeys,
  reserveBefore,
} from "./keyspace.js";
import type { DemoOptions } from "./options.js";
import { plural, shownUrl } from "./view/text.js";
import type { View } from "./view/view.js";
import { Child, type Program } from "./work/child.js";

/** What every act works with. */
export interface Stage {
  readonly options: DemoOptions;
  readonly url: string;
  /** Root of the workspace. */
  readonly root: string;
  readonly view: View;
  readonly cleanup: Cleanup;
  /** Fires when the story is interrupted. */
  readonly signal: AbortSignal;
  /** A plain connection to look at keys. */
  readonly admin: Redis;
  /** Starts a program in a process of its own, which ends with the story at the latest. */
  child<Task>(program: Program): Promise<Child<Task>>;
}

/** What a stage is made from. */
export interface StageParts {
  readonly options: DemoOptions;
  readonly view: View;
  readonly cleanup: Cleanup;
  readonly signal: AbortSignal;
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const CONNECT_MS = 5_000;

/** A story that does not go as it must. */
class StoryError extends Error {}

/** @throws StoryError where something is not as the story needs it. */
export function insist(condition: boolean, message: string): asserts condition {
  if (!condition) throw new StoryError(message);
}

/**
 * Makes the server ready.
 * @throws StoryError when it cannot be reached, or holds the demo's queue already.
 */
export async function openStage({ options, view, cleanup, signal }: StageParts): Promise<Stage> {
  const url = options.url ?? (await privateServer(cleanup));
  const admin = await connect(url, cleanup);
  view.say(
    `${await describe(admin)} at ${shownUrl(url)}${options.url === undefined ? ", private" : ""}`,
  );
  if (options.url !== undefined) await borrow(admin, url, view, cleanup);
  return {
    options,
    url,
    root: ROOT,
    view,
    cleanup,
    signal,
    admin,
    async child<Task>(program: Program) {
      const child = Child.spawn<Task>(program, ROOT);
      cleanup.defer(() => child.kill());
      await child.loaded();
      return child;
    },
  };
}

async function privateServer(cleanup: Cleanup): Promise<string> {
  const server = await startServer({ engine: "redis" });
  cleanup.defer(() => server.stop());
  return server.url;
}

async function connect(url: string, cleanup: Cleanup): Promise<Redis> {
  const admin = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason = "";
  admin.on("error", (error: Error) => {
    reason = error.message;
  });
  cleanup.defer(async () => admin.disconnect());
  try {
    await admin.connect();
    await admin.ping();
  } catch (error) {
    const text = reason === "" ? (error as Error).message : reason;
    throw new StoryError(`${shownUrl(url)} cannot be used: ${text}`);
  }
  return admin;
}

async function describe(admin: Redis): Promise<string> {
  const info = await admin.info("server");
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
  if (valkey !== undefined) return `Valkey ${valkey}`;
  return `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1] ?? "of unknown version"}`;
}

/** Somebody else's server: nothing of it may be touched but the demo's own keys. */
async function borrow(admin: Redis, url: string, view: View, cleanup: Cleanup): Promise<void> {
  const [foreign] = await foreignKeys(admin);
  insist(
    foreign === undefined,
    `the queue ${QUEUE} exists at ${shownUrl(url)} already (${foreign}). Another demo runs there, or ` +
      `one was killed. Nothing was changed; remove the keys that contain ${QUEUE}, or use another server.`,
  );
  const before: ReserveBefore = await reserveBefore(admin);
  cleanup.defer(async () => {
    const removed = await removeOwnKeys(admin, before);
    view.line(`removed ${plural(removed, "key")} of the demo from ${shownUrl(url)}`);
  });
}
