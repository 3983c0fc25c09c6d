import { isEchoMQError } from "@echomq/wire";
import type { Progress } from "../context.js";
import type { MigrationError } from "../errors.js";
import { progressView } from "./progress.js";
import { describeReport } from "./report.js";

/** Where the tool writes, and how. */
export interface OutputOptions {
  readonly json: boolean;
  readonly color: boolean;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** What the tool shows: one JSON document per phase for programs, words for people. */
export interface Output {
  report(report: { readonly phase: string }): void;
  text(text: string): void;
  error(error: unknown): void;
  progress(progress: Progress): void;
  end(): void;
}

/** Makes the output; progress goes to standard error, so standard output stays clean. */
export function makeOutput(options: OutputOptions): Output {
  const { json, stdout, stderr } = options;
  const view = json ? null : progressView(stderr);
  const paint = (code: number, text: string): string =>
    options.color ? `\u001b[${code}m${text}\u001b[0m` : text;
  // Colours are decided by standard output; a file behind standard error gets none.
  const paintError = stderr.isTTY === true ? paint : (_: number, text: string) => text;
  return {
    report(report) {
      view?.stop();
      stdout.write(json ? `${JSON.stringify(report)}\n` : `${describeReport(report, paint)}\n`);
    },
    text(text) {
      stdout.write(text);
    },
    error(error) {
      view?.stop();
      if (json) stdout.write(`${JSON.stringify(errorDocument(error))}\n`);
      const message = error instanceof Error ? error.message : String(error);
      stderr.write(`${paintError(31, codeOf(error))} ${message}\n`);
    },
    progress: (progress) => view?.show(progress),
    end: () => view?.stop(),
  };
}

/** An error as the document of its phase. */
export function errorDocument(error: unknown): Readonly<Record<string, unknown>> {
  const message = error instanceof Error ? error.message : String(error);
  if (isMigrationError(error)) {
    const { phase, queue, reason, details, next = null } = error;
    return { phase, error: { code: error.code, reason, queue, message, details, next } };
  }
  return { phase: null, error: { code: codeOf(error), message } };
}

function isMigrationError(error: unknown): error is MigrationError {
  return isEchoMQError(error) && "reason" in error && "phase" in error;
}

function codeOf(error: unknown): string {
  if (isMigrationError(error)) return error.reason;
  if (isEchoMQError(error)) return error.code;
  return error instanceof Error ? error.name : "Error";
}
