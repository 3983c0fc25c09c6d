/**
 * Makes text from elsewhere safe to show: control, format and lone surrogate characters become
 * escapes, and the result never exceeds `max` characters; a cut ends in `…`.
 */
export function printable(text: string, max = 64): string {
  let out = "";
  let fits = ""; // longest whole prefix that leaves room for the mark
  for (const char of text.slice(0, max + 1)) {
    out += escaped(char);
    if (out.length > max) return `${fits}…`;
    if (out.length < max) fits = out;
  }
  return text.length > max ? `${fits}…` : out;
}

/** Tells whether a text can be shown as it is. */
export function isPrintable(text: string): boolean {
  // Cc control, Cf format (bidi overrides, zero width), Cs lone surrogate, Zl and Zp line breaks
  return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}

/** Puts printable text between double quotes. */
export function quoted(text: string, max = 64): string {
  return `"${printable(text, max)}"`;
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

function escaped(char: string): string {
  const named = NAMED.get(char);
  if (named !== undefined) return named;
  if (isPrintable(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  return `\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, "0")}`;
}
