import { tailScript } from "@echomq/scripts";
import { EchoMQError, isEchoMQError } from "@echomq/wire";
import { closedError, type LazySession } from "../connection/lazy.js";
import { within } from "../connection/within.js";
import { readPayload } from "../job/payload.js";
import { stored } from "../job/stored.js";
import { record, refuse, shown, whole } from "../options/check.js";
import { JSON_CODEC } from "../options/serializer.js";
import type { QueueEvents } from "./queue-events.js";
import { type Ending, type Recording, type Watchers, watchersOf } from "./watchers.js";

/** Longest wait for a job, in ms: the longest step of a timer. */
const WAIT_MAX_MS = 2_147_483_647;
/** Time between two looks at the job itself, which find what no event told, in ms. */
const LOOK_MS = 5_000;

/** How `Queue.addAndWait` waits. */
export interface WaitOptions {
  /** How long at most, in ms, the adding included. */
  readonly timeout: number;
  /** Events of the same queue. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever events of its own it is typed with
  readonly events: QueueEvents<any>;
}

/** A wait that has been checked and may begin. */
export interface Wait {
  readonly watchers: Watchers;
  /** As it was given. */
  readonly timeoutMs: number;
  /** Monotonic ms at which it is over. */
  readonly until: number;
  readonly op: string;
}

/**
 * Checks what a wait is given.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkWait(q: string, events: unknown, timeout: unknown, op: string): Wait {
  const watchers = watchersOf(events);
  if (!watchers) return refuse("events", `must be a QueueEvents, got ${shown(events)}`);
  if (watchers.name !== q) {
    refuse("events", `are of the queue ${shown(watchers.name)}, not of ${shown(q)}`);
  }
  const timeoutMs = whole("timeout", timeout, 1, WAIT_MAX_MS) ?? refuse("timeout", "is required");
  return { watchers, timeoutMs, until: performance.now() + timeoutMs, op };
}

/** Adds a job through `add` and waits for its end. */
export async function addAndWait(
  lazy: LazySession,
  q: string,
  options: unknown,
  add: () => Promise<{ readonly id: string }>,
): Promise<unknown> {
  const { timeout, events } = record("wait", options, ["timeout", "events"]);
  const wait = checkWait(q, events, timeout, "Queue.addAndWait");
  if (!(await readyWithin(wait))) throw late(wait, "the events were not ready; nothing was added");
  // Before the add: the job may have ended, and be gone, when its id comes back.
  const recording = wait.watchers.record();
  try {
    const { id } = await add();
    return await untilEnded(lazy, id, wait, recording);
  } finally {
    recording.stop();
  }
}

/** Waits for a job that stands to end. */
export async function waitUntilFinished(
  lazy: LazySession,
  id: string,
  wait: Wait,
): Promise<unknown> {
  if (!(await readyWithin(wait))) throw late(wait, "the events were not ready", id);
  return untilEnded(lazy, id, wait);
}

async function readyWithin({ watchers, timeoutMs }: Wait): Promise<boolean> {
  const ready = watchers.ready();
  // A fence's refusal is thrown here; a timeout is told by the caller.
  return (await within(ready, timeoutMs)) && ready.then(() => true);
}

/** Watches first and looks then, so an end between the two is not missed. */
function untilEnded(
  lazy: LazySession,
  id: string,
  wait: Wait,
  recording?: Recording,
): Promise<unknown> {
  const { watchers, op } = wait;
  return new Promise((resolve, reject) => {
    let looking = false;
    let over = false;
    let told: Ending | undefined;
    const finish = (work: () => unknown): void => {
      if (over) return;
      over = true;
      stop();
      clearTimeout(timer);
      clearInterval(again);
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    };
    const fail = (error: unknown): void =>
      finish(() => {
        throw error;
      });
    const look = async (): Promise<void> => {
      if (looking || over) return;
      looking = true;
      try {
        const end = await endOf(lazy, id, op, watchers);
        const known = told ?? recording?.of(id) ?? { how: "removed" };
        if (end === "gone") finish(() => resultOf(id, decoded(lazy, known), wait));
        else if (end) finish(() => resultOf(id, end, wait));
      } catch (error) {
        if (!isTransient(error)) fail(error);
      } finally {
        looking = false;
      }
    };
    const stop = watchers.watch(id, {
      ended: (ending) => {
        told = ending;
        // Events hold results as JSON: another serialiser's stand in the job itself.
        if (ending.how === "completed" && lazy.codec !== JSON_CODEC) void look();
        else finish(() => resultOf(id, ending, wait));
      },
      doubt: () => void look(),
      closed: () => fail(closedError(op, watchers.name)),
    });
    const timer = setTimeout(
      () => fail(late(wait, "it has not ended, and goes on", id)),
      Math.max(Math.ceil(wait.until - performance.now()), 1),
    );
    const again = setInterval(() => void look(), LOOK_MS);
    void look();
  });
}

/** An ending whose result was read as JSON, read as the queue's serialiser does. */
function decoded(lazy: LazySession, ending: Ending): Ending {
  if (ending.how !== "completed" || lazy.codec === JSON_CODEC) return ending;
  const { returnvalue } = ending.payload;
  const text = typeof returnvalue === "string" ? returnvalue : JSON.stringify(returnvalue);
  return { ...ending, payload: { returnvalue: readPayload(null, lazy.codec, text) } };
}

/** The job's end by its own hash; `gone` once no event about it can still come. */
async function endOf(
  lazy: LazySession,
  id: string,
  op: string,
  watchers: Watchers,
): Promise<Ending | "gone" | undefined> {
  const session = await lazy.get(op);
  const [found] = await stored(session, [id], op);
  if (!found) {
    // It may have ended and been removed at once: then its event stands in the stream by now.
    const args = { after: "0-0", inclusive: 0, count: 0 };
    const top = (await session.read(tailScript, { q: session.q, args }, op))?.top;
    if (top) await watchers.reached(top);
    return "gone";
  }
  const { fields } = found;
  if (found.state === "completed") {
    const value = readPayload(null, lazy.codec, fields.returnvalue);
    return { how: "completed", payload: { returnvalue: value }, gone: false };
  }
  if (found.state !== "failed") return undefined;
  return { how: "failed", payload: { failedReason: fields.failedReason ?? "" }, gone: false };
}

function resultOf(jobId: string, ending: Ending, { watchers, op }: Wait): unknown {
  const about = { op, queue: watchers.name, jobId };
  if (ending.how === "removed") {
    const message = "it is gone: it was removed, or had ended and was not kept";
    throw new EchoMQError({ code: "JOB_REMOVED", message, ...about });
  }
  if (ending.gone) {
    const message = `it has ${ending.how}, but was removed before its large result was read; keep ended jobs longer`;
    throw new EchoMQError({ code: "RESULT_GONE", message, ...about });
  }
  if (ending.how === "completed") return ending.payload.returnvalue;
  // Its message is the reason, as the handler said it.
  const message = String(ending.payload.failedReason);
  throw new EchoMQError({ code: "JOB_FAILED", message, op });
}

function late({ op, timeoutMs, watchers }: Wait, what: string, jobId?: string): EchoMQError {
  const message = `no end within ${timeoutMs} ms: ${what}`;
  return new EchoMQError({ code: "WAIT_TIMEOUT", message, op, queue: watchers.name, jobId });
}

function isTransient(error: unknown): boolean {
  return isEchoMQError(error) && error.transient;
}
