/** Brand shared by every EchoMQ error; the registry of symbols makes it one without a dependency. */
const ECHOMQ_ERROR: unique symbol = Symbol.for("echomq.error");

/** A value is no id, no encoded id, or no setting of a mint. `code` is always `ID`. */
export class IdError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "IdError", configurable: true });
    Object.defineProperty(this.prototype, ECHOMQ_ERROR, { value: true });
  }

  readonly code = "ID" as const;
  /** The same call never succeeds later. */
  readonly transient = false as const;
}

/** Shows a value in a message: text escaped and cut, anything else by its type. */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    const text = JSON.stringify(value.slice(0, 40));
    return value.length > 40 ? `${text}…` : text;
  }
  return typeof value === "number" || typeof value === "bigint" ? String(value) : typeof value;
}
