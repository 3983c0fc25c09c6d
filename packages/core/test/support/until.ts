import { setTimeout as sleep } from "node:timers/promises";

/** How long a condition may take on a busy machine, in ms; a hang ends here, nothing is measured. */
const DEADLINE_MS = 25_000;

/** Waits until `look` gives something truthy and returns it. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  withinMs: number = DEADLINE_MS,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`still not so after ${withinMs} ms: ${what}`);
    await sleep(15);
  }
}

/** Fails where `work` has not settled in time, so that a hang is told by name. */
export async function settles<T>(
  what: string,
  work: Promise<T>,
  withinMs: number = DEADLINE_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), withinMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error `work` rejects with. */
export async function refusal(
  work: Promise<unknown> | (() => unknown),
): Promise<Error & { readonly code?: string; readonly option?: string }> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected a refusal, and there was none");
}
