/** Longest reason and stack that are stored, in characters, and how many stacks. */
const REASON_MAX = 4_096;
const STACK_MAX = 16_384;
const STACKS_MAX = 10;

/**
 * What a handler threw, as a readable reason. It may be anything: `null`, a string, an object whose
 * getters throw.
 */
export function reasonOf(thrown: unknown): string {
  const text = attempt(() => {
    if (thrown instanceof Error || hasMessage(thrown))
      return String((thrown as Error).message || thrown);
    if (typeof thrown === "string") return thrown;
    if (thrown === undefined || thrown === null) return `the handler threw ${thrown}`;
    return JSON.stringify(thrown) ?? String(thrown);
  });
  const known =
    text ?? attempt(() => String(thrown)) ?? "the handler threw a value that cannot be read";
  return (known === "" ? "the handler threw an empty message" : known)
    .slice(0, REASON_MAX)
    .toWellFormed();
}

/** What was thrown as an error: itself where it is one. */
export function errorOf(thrown: unknown): Error {
  const known = attempt(() => thrown instanceof Error) ?? false;
  return known ? (thrown as Error) : new Error(reasonOf(thrown), { cause: thrown });
}

/** The stored stacks with the new one, the oldest dropped, as a JSON list. */
export function stacksWith(stored: readonly string[], thrown: unknown): string {
  const stack = attempt(() => (thrown as Error).stack) ?? reasonOf(thrown);
  const text = (typeof stack === "string" ? stack : reasonOf(thrown)).slice(0, STACK_MAX);
  return JSON.stringify([...stored, text].slice(-STACKS_MAX));
}

/** True for an error that forbids another attempt, of any copy of this package. */
export function isUnrecoverable(thrown: unknown): boolean {
  return attempt(() => (thrown as Error).name === "UnrecoverableError") ?? false;
}

function hasMessage(thrown: unknown): boolean {
  return (
    typeof thrown === "object" && thrown !== null && typeof (thrown as Error).message === "string"
  );
}

/** What `read` gives, undefined where it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
