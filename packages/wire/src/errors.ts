import { adviceFor } from "./advice.js";
import { quoted } from "./printable.js";

/** Brand of every EchoMQ error. It survives duplicate copies of a package, which `instanceof` does not. */
export const ECHOMQ_ERROR: unique symbol = Symbol.for("echomq.error");

/** Classes of a script's refusal, the first word of its error reply. */
export type WireCode =
  | "EMQFENCE"
  | "EMQSTALE"
  | "EMQSTATE"
  | "EMQMISSING"
  | "EMQPARENT"
  | "EMQRETRY"
  | "EMQFULL"
  | "EMQARG";

/** Trouble of the server or of the connection to it. */
export type ServerCode =
  | "CONNECTION_LOST"
  | "TIMEOUT"
  | "LOADING"
  | "READONLY"
  | "NOAUTH"
  | "NOPERM"
  | "OOM"
  | "CLUSTERDOWN"
  | "TRYAGAIN"
  | "MASTERDOWN"
  | "NOSCRIPT"
  | "WRONGTYPE"
  | "BUSY"
  | "UNBLOCKED"
  | "UNKNOWN";

/** Why a client may not work on a queue; given at boot contact only. */
export type FenceCode =
  | "V1_KEYSPACE"
  | "V2_KEYSPACE"
  | "V1_INTRUSION"
  | "MAJOR_MISMATCH"
  | "FOREIGN_VERSION"
  | "MIGRATION_IN_PROGRESS"
  | "MIGRATION_TOMBSTONE";

/** What never reaches the wire. */
export type LocalCode = "VALIDATION" | "CONFIG";

/** Every code of the family. Other packages add their own, so any text is allowed. */
export type ErrorCode = WireCode | ServerCode | FenceCode | LocalCode | (string & {});

/** What an error of any class may carry besides its own fields. */
export interface ErrorContext {
  /** The operation that failed, e.g. `Queue.add`. */
  readonly op?: string | undefined;
  /** The queue it was about, as its bare name. The message names it. */
  readonly queue?: string | undefined;
  /** The job it was about. The message names it, shortened where it is long. */
  readonly jobId?: string | undefined;
  readonly cause?: unknown;
}

/** Parts of an `EchoMQError`. */
export interface ErrorInit extends ErrorContext {
  readonly code: ErrorCode;
  readonly message: string;
  /** True when the same call may succeed later without a change. */
  readonly transient?: boolean | undefined;
}

interface BrandedError extends Error {
  /** The brand `isEchoMQError` looks for. */
  readonly [ECHOMQ_ERROR]: true;
}

/** `Error` as EchoMQError's prototype completes it. */
const ErrorBase: new (message?: string, options?: ErrorOptions) => BrandedError = Error as never;

// `this` in the static blocks: bundlers rename a class that is named in its own body.
/**
 * Base of every error: a code, the operation, the queue and the job where they are known, the cause, and
 * whether trying again can help.
 */
export class EchoMQError extends ErrorBase {
  static {
    nameClass(this, "EchoMQError");
    // on the prototype, so a logged error stays short
    Object.defineProperty(this.prototype, ECHOMQ_ERROR, { value: true });
  }

  readonly code: ErrorCode;
  declare readonly op?: string;
  declare readonly queue?: string;
  declare readonly jobId?: string;
  readonly transient: boolean;

  constructor(init: ErrorInit) {
    super(placed(init), init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    if (init.op !== undefined) this.op = init.op;
    if (init.queue !== undefined) this.queue = init.queue;
    if (init.jobId !== undefined) this.jobId = init.jobId;
    this.transient = init.transient ?? false;
  }
}

/** An argument or option has a value that is never sent. Nothing was written. */
export class ValidationError extends EchoMQError {
  static {
    nameClass(this, "ValidationError");
  }

  declare readonly code: "VALIDATION";
  /** The option at fault, e.g. `queue` or `delay`. */
  readonly option: string;
  /** What is wrong with it, without the option's name. */
  readonly reason: string;

  constructor(init: ErrorContext & { readonly option: string; readonly reason: string }) {
    super({ ...init, code: "VALIDATION", message: `${init.option}: ${init.reason}` });
    this.option = init.option;
    this.reason = init.reason;
  }
}

/** Options that cannot work together, or something to install is missing. */
export class ConfigError extends EchoMQError {
  static {
    nameClass(this, "ConfigError");
  }

  declare readonly code: "CONFIG";
  declare readonly option?: string;

  constructor(
    init: ErrorContext & { readonly message: string; readonly option?: string | undefined },
  ) {
    super({ ...init, code: "CONFIG" });
    if (init.option !== undefined) this.option = init.option;
  }
}

/** The keyspace belongs to another version, or to a migration. The message says what to do. */
export class FenceError extends EchoMQError {
  static {
    nameClass(this, "FenceError");
  }

  declare readonly code: FenceCode;
  declare readonly queue: string;
  /** What stands there, escaped and cut. */
  readonly found: string;
  /** What this client can work with. */
  readonly expected: string;
  /** The key that decided. */
  readonly probe: string;

  constructor(
    init: ErrorContext & {
      readonly code: FenceCode;
      readonly message: string;
      readonly queue: string;
      readonly found: string;
      readonly expected: string;
      readonly probe: string;
    },
  ) {
    // The message names the queue itself.
    const { queue, ...rest } = init;
    super(rest);
    this.queue = queue;
    this.found = init.found;
    this.expected = init.expected;
    this.probe = init.probe;
  }
}

/** A script refused one call. `detail` is what followed the code in its reply; the message advises. */
export class WireError extends EchoMQError {
  static {
    nameClass(this, "WireError");
  }

  declare readonly code: WireCode;
  readonly detail: string;

  constructor(init: ErrorContext & { readonly code: WireCode; readonly detail: string }) {
    const { code, detail } = init;
    const advice = adviceFor(code, detail);
    const said = detail === "" ? code : `${code} ${detail}`;
    super({ ...init, message: advice === undefined ? said : `${said}; ${advice}` });
    this.detail = detail;
  }
}

/** The server or the connection failed. `detail` is the text as it came, unchanged. */
export class ServerError extends EchoMQError {
  static {
    nameClass(this, "ServerError");
  }

  declare readonly code: ServerCode;
  readonly detail: string;

  constructor(init: ErrorContext & { readonly code: ServerCode; readonly detail: string }) {
    super({ ...init, message: init.detail, transient: TRANSIENT.has(init.code) });
    this.detail = init.detail;
  }
}

/** Codes after which the same call may succeed without anybody changing anything. */
const TRANSIENT: ReadonlySet<ServerCode> = new Set<ServerCode>([
  "CONNECTION_LOST",
  "TIMEOUT",
  "LOADING",
  "READONLY",
  "CLUSTERDOWN",
  "TRYAGAIN",
  "MASTERDOWN",
  "BUSY",
  "UNBLOCKED",
]);

/** Tells an EchoMQ error, with that code if one is given, by its brand and never by its class. */
export function isEchoMQError(error: unknown, code?: ErrorCode): error is EchoMQError {
  if (typeof error !== "object" || error === null) return false;
  try {
    const branded = error as { [ECHOMQ_ERROR]?: unknown; code?: unknown };
    return branded[ECHOMQ_ERROR] === true && (code === undefined || branded.code === code);
  } catch {
    return false; // a thrown value may be a proxy or hold a getter that throws
  }
}

/** The message behind the place it is about: `Queue.remove: job "7" of queue "mails": …`. */
function placed({ op, queue, jobId, message }: ErrorInit): string {
  const parts = [
    ...(jobId === undefined ? [] : [`job ${quoted(jobId)}`]),
    ...(queue === undefined ? [] : [`queue ${quoted(queue, 128)}`]),
  ];
  if (parts.length === 0) return message;
  const place = `${parts.join(" of ")}: ${message}`;
  return op === undefined ? place : `${op}: ${place}`;
}

/** Names a class on its prototype, so stacks read well also after minification. */
function nameClass(type: { readonly prototype: Error }, name: string): void {
  Object.defineProperty(type.prototype, "name", {
    value: name,
    configurable: true,
    writable: true,
  });
}
