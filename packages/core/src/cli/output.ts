import {
  connectionTrouble,
  type Host,
  type Trouble,
  UsageError,
  visible,
} from "@echomq/scripts/cli";
import { isEchoMQError } from "@echomq/wire";

/** What every command is told about the server and the way to write. */
export interface Given {
  readonly url: string;
  readonly json: boolean;
}

/** Writes a document for programs, or lines for people. */
export function tell(host: Host, given: Given, document: object, lines: readonly string[]): void {
  const text = given.json ? JSON.stringify(document) : lines.join("\n");
  if (text !== "") host.stdout.write(`${text}\n`);
}

/** Tells what went wrong, with one queue or with all: a sentence, and for programs a document. */
export function tellTrouble(host: Host, given: Given, error: unknown, queue?: string): void {
  const trouble = troubleOf(error, given.url);
  if (given.json) {
    const of = queue === undefined ? {} : { queue };
    host.stdout.write(`${JSON.stringify({ ...of, error: trouble })}\n`);
  }
  const where = queue === undefined ? "" : `${visible(queue)}: `;
  const code = trouble.code === "USAGE" ? "error" : trouble.code;
  host.stderr.write(`${where}${code}: ${visible(trouble.message)}\n`);
}

function troubleOf(error: unknown, url: string): Trouble {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) return { code: "USAGE", message };
  const trouble = connectionTrouble(error, url);
  if (trouble !== null) return trouble;
  if (isEchoMQError(error)) return { code: error.code, message };
  return { code: error instanceof Error ? error.name : "Error", message };
}
