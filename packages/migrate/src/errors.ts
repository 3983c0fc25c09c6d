import { EchoMQError } from "@echomq/wire";

/** Why a phase did not do what it was asked. */
export type MigrationReason =
  | "ACTIVE"
  | "WORKERS_CONNECTED"
  | "FLOWS"
  | "SCHEDULERS"
  | "LINE"
  | "NAME"
  | "IDS"
  | "SCORES"
  | "MEMORY"
  | "CLUSTER"
  | "NOTHING"
  | "OTHER_SOURCE"
  | "TARGET_TAKEN"
  | "VAULT"
  | "NOT_FENCED"
  | "NOT_COPIED"
  | "NOT_VERIFIED"
  | "NOT_COMMITTED"
  | "DIFFERENT"
  | "ROLLING_BACK"
  | "OPENED"
  | "PURGED"
  | "INTRUDED"
  | "INTRUDER"
  | "FOREIGN"
  | "OVERTAKEN"
  | "ABORTED";

/** Classes of a migration's refusal, beside those of the server and of the connection. */
export type MigrationCode = "MIGRATION_REFUSED" | "MIGRATION_DIFFERENT" | "MIGRATION_ABORTED";

/** Parts of a {@link MigrationError}. */
export interface MigrationErrorInit {
  readonly reason: MigrationReason;
  readonly message: string;
  readonly queue: string;
  readonly phase: string;
  /** What was found, as data. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The command to run next. */
  readonly next?: string;
  readonly cause?: unknown;
}

/**
 * A phase refused, found differences or was stopped. The message says why in words for people; code,
 * reason and details say it for programs.
 */
export class MigrationError extends EchoMQError {
  static {
    Object.defineProperty(this.prototype, "name", { value: "MigrationError" });
  }

  declare readonly code: MigrationCode;
  readonly reason: MigrationReason;
  declare readonly queue: string;
  readonly phase: string;
  readonly details: Readonly<Record<string, unknown>>;
  declare readonly next?: string;

  constructor(init: MigrationErrorInit) {
    super({
      code: codeOf(init.reason),
      message: init.next === undefined ? init.message : `${init.message} Next: ${init.next}`,
      op: `migrate ${init.phase}`,
      cause: init.cause,
    });
    this.reason = init.reason;
    this.queue = init.queue;
    this.phase = init.phase;
    this.details = init.details ?? {};
    if (init.next !== undefined) this.next = init.next;
  }
}

function codeOf(reason: MigrationReason): MigrationCode {
  if (reason === "DIFFERENT") return "MIGRATION_DIFFERENT";
  return reason === "ABORTED" ? "MIGRATION_ABORTED" : "MIGRATION_REFUSED";
}

/** The one sentence about jobs in flight, said the same everywhere. */
export const ACTIVE_RULE =
  "jobs that are active hold v1 locks and must finish on v1 workers first.";
