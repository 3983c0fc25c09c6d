/** One line of the monitor's stream. */
export interface MonitorLine {
  /** Address of the client, or `lua` for a command of a script. */
  readonly source: string;
  readonly args: readonly string[];
}

const LINE = /^[\d.]+ \[\d+ (.+?)\] (".*)$/;
const SHORT: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, a: 7, b: 8 };
const BACKSLASH = 92;
const QUOTE = 34;

/** Address of the client of a line, without reading its arguments; null where it is no such line. */
export function sourceOf(text: string): string | null {
  return LINE.exec(text)?.[1] ?? null;
}

/** Takes a line apart; null where it is no line of a command. */
export function parseMonitorLine(text: string): MonitorLine | null {
  const [, source, rest] = LINE.exec(text) ?? [];
  if (source === undefined || rest === undefined) return null;
  return { source, args: argsOf(rest) };
}

/** Reads `"a" "b\x00"` as the server escapes it: bytes beyond ASCII as `\xHH`. */
function argsOf(text: string): string[] {
  const args: string[] = [];
  let bytes: number[] | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (bytes === undefined) {
      if (code === QUOTE) bytes = [];
    } else if (code === QUOTE) {
      args.push(Buffer.from(bytes).toString("utf8"));
      bytes = undefined;
    } else if (code === BACKSLASH) {
      const next = text[at + 1] ?? "";
      if (next === "x") {
        bytes.push(Number.parseInt(text.slice(at + 2, at + 4), 16));
        at += 3;
      } else {
        bytes.push(SHORT[next] ?? next.charCodeAt(0));
        at += 1;
      }
    } else bytes.push(code);
  }
  return args;
}
