import type { Row } from "../outcome.js";

type Paint = (text: string) => string;

/** Colours of the report; without colour every paint leaves the text as it is. */
export function painter(color: boolean): { readonly bold: Paint; of(ok: Row["ok"]): Paint } {
  const code =
    (start: number, end: number): Paint =>
    (text) =>
      color ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  const [green, red, yellow] = [code(32, 39), code(31, 39), code(33, 39)];
  return { bold: code(1, 22), of: (ok) => (ok === null ? yellow : ok ? green : red) };
}
