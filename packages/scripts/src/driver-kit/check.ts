import { type FaultKind, isDriverFault, type Reply } from "../driver/types.js";

const PATIENCE_MS = 10_000;

/** Throws when `condition` does not hold. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Throws when a reply differs from what is expected. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(a === b, `${what}: expected ${shorten(b)}, got ${shorten(a)}`);
}

/** Waits for the fault of a call that must fail, and returns its message. */
export async function faultOf(call: Promise<unknown>, kind: FaultKind): Promise<string> {
  const outcome = await settled(call.then(asValue, asError), `a call that must fail as ${kind}`);
  check(!("value" in outcome), `expected a ${kind} fault, got the reply ${show(outcome)}`);
  const { error } = outcome;
  check(error instanceof Error, "a driver must throw errors");
  check(
    isDriverFault(error, kind),
    `expected a ${kind} fault, got ${isDriverFault(error) ? error.fault : error.name}: ${error.message}`,
  );
  return error.message;
}

/** Fails instead of waiting for ever, and says for what. */
export async function settled<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still waiting for ${what}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps a call whose outcome is looked at later from counting as unhandled meanwhile. */
export function later<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {});
  return call;
}

/** Waits until `done` holds, asking again every few milliseconds. */
export async function until(done: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await done())) {
    check(Date.now() < end, `still waiting for ${what}`);
    await pause(5);
  }
}

/** Waits `ms` milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The text of a reply that must be text. */
export function text(reply: Reply): string {
  check(typeof reply === "string", `expected text, got ${show(reply)}`);
  return reply;
}

function asValue(value: unknown): { value: unknown } {
  return { value };
}

function asError(error: unknown): { error: unknown } {
  return { error };
}

function show(value: unknown): string {
  return shorten(JSON.stringify(value));
}

function shorten(text: string | undefined): string {
  if (text === undefined) return "undefined";
  return text.length > 200 ? `${text.slice(0, 200)}... (${text.length} characters)` : text;
}
