import { visible } from "@echomq/scripts/cli";

/** Colours a text, where there are colours. */
export type Paint = (code: number, text: string) => string;

const SHOWN = 3;

/** The first of what was found, in words; empty for nothing. */
export function firstOf(found: readonly unknown[]): string {
  const first = found.slice(0, SHOWN).map((one) => visible(inWords(one)));
  return first.join(", ") + (found.length > SHOWN ? ", …" : "");
}

/** Text as it is; the values of anything else, e.g. `wait 5`. */
function inWords(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.values(value)
    .map((one) => (Array.isArray(one) ? one.join(" and ") : String(one)))
    .join(" ");
}

/** A queue as both wires name it. */
export function arrow(prefix: string, queue: string, q: string): string {
  return visible(`${prefix}:${queue} -> emq:{${q}}`);
}
