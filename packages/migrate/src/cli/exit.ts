import { isDriverFault } from "@echomq/scripts";
import { STOPPED, UsageError } from "@echomq/scripts/cli";
import { isEchoMQError } from "@echomq/wire";

/** Exit status of the tool. */
export const EXIT: Readonly<
  Record<"done" | "refused" | "usage" | "connection" | "different" | "stopped", number>
> = { done: 0, refused: 1, usage: 2, connection: 3, different: 4, stopped: STOPPED };

/** The exit status an error stands for. */
export function exitStatus(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (isDriverFault(error)) return EXIT.connection;
  if (!isEchoMQError(error)) return EXIT.refused;
  switch (error.code) {
    case "MIGRATION_DIFFERENT":
      return EXIT.different;
    case "MIGRATION_ABORTED":
      return EXIT.stopped;
    case "VALIDATION":
    case "CONFIG":
      return EXIT.usage;
    case "NOAUTH":
      return EXIT.connection;
    default:
      return error.transient ? EXIT.connection : EXIT.refused;
  }
}
