import { connectionTrouble, type Stream, UsageError, visible } from "@echomq/scripts/cli";
import { isEchoMQError } from "@echomq/wire";
import type { Progress } from "../context.js";
import type { MigrationError } from "../errors.js";
import { progressView } from "./progress.js";
import { describeReport, type Report } from "./report.js";
import { findingsOf } from "./reports/refused.js";

/** Where the tool writes, and how. */
export interface OutputOptions {
  readonly json: boolean;
  readonly color: boolean;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: Stream;
  /** Address of the server, named in trouble with it. */
  readonly url?: string;
}

/** What the tool shows: one JSON document per phase for programs, words for people. */
export interface Output {
  /** `next` false leaves out the next command for people: it is run by itself. */
  report(report: Report, next?: boolean): void;
  /** `next` is the command to repeat once trouble with the server is over. */
  error(error: unknown, next?: string): void;
  progress(progress: Progress): void;
  end(): void;
}

/** Makes the output; progress goes to standard error, so standard output stays clean. */
export function makeOutput(options: OutputOptions): Output {
  const { json, stdout, stderr, url = "" } = options;
  const view = json ? null : progressView(stderr);
  const paint = (code: number, text: string): string =>
    options.color ? `\u001b[${code}m${text}\u001b[0m` : text;
  // Colours are decided by standard output; a file behind standard error gets none.
  const paintError = stderr.isTTY === true ? paint : (_: number, text: string) => text;
  return {
    report(report, next = true) {
      view?.stop();
      stdout.write(
        json ? `${JSON.stringify(report)}\n` : `${describeReport(report, paint, next)}\n`,
      );
    },
    error(error, next) {
      view?.stop();
      const document = errorDocument(error, url, next);
      if (json) stdout.write(`${JSON.stringify(document)}\n`);
      stderr.write(`${said(error, document, paintError)}\n`);
    },
    progress: (progress) => view?.show(progress),
    end: () => view?.stop(),
  };
}

/** An error as the document of its phase. */
interface ErrorDocument {
  readonly phase: string | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly reason?: string;
    readonly queue?: string;
    readonly details?: MigrationError["details"];
    readonly next?: string | null;
  };
}

/** An error as the document of its phase; trouble with the server is told in words. */
export function errorDocument(error: unknown, url = "", next?: string): ErrorDocument {
  if (isMigrationError(error)) {
    const { phase, code, queue, reason, details, message, next: own = null } = error;
    return { phase, error: { code, reason, queue, message, details, next: own } };
  }
  const trouble = connectionTrouble(error, url);
  if (trouble !== null) {
    return { phase: null, error: { ...trouble, ...(next === undefined ? {} : { next }) } };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { phase: null, error: { code: codeOf(error), message } };
}

/** An error for people: what and why, what was found, and the command that goes on. */
function said(
  error: unknown,
  { error: { code, reason, message, next } }: ErrorDocument,
  paint: (code: number, text: string) => string,
): string {
  const tail = ` Next: ${next}`;
  const text = message.endsWith(tail) ? message.slice(0, -tail.length) : message;
  return [
    `${paint(31, `${code === "USAGE" ? "error" : (reason ?? code)}:`)} ${visible(text)}`,
    ...(isMigrationError(error) ? findingsOf(error) : []),
    ...(next === undefined || next === null ? [] : [`  next: ${next}`]),
  ].join("\n");
}

function isMigrationError(error: unknown): error is MigrationError {
  return isEchoMQError(error) && "reason" in error && "phase" in error;
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return "USAGE";
  if (isEchoMQError(error)) return error.code;
  return error instanceof Error ? error.name : "Error";
}
