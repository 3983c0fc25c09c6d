import { isDriverFault } from "@echomq/scripts";
import { isEchoMQError } from "@echomq/wire";

/** Exit status of the tool. */
export const EXIT = { done: 0, refused: 1, usage: 2, connection: 3, different: 4 } as const;

/** A command line that cannot be carried out. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The exit status an error stands for. */
export function exitStatus(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (isDriverFault(error)) return EXIT.connection;
  if (!isEchoMQError(error)) return EXIT.refused;
  switch (error.code) {
    case "MIGRATION_DIFFERENT":
      return EXIT.different;
    case "VALIDATION":
    case "CONFIG":
      return EXIT.usage;
    case "NOAUTH":
      return EXIT.connection;
    default:
      return error.transient ? EXIT.connection : EXIT.refused;
  }
}
