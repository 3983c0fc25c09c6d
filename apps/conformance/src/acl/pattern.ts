/**
 * What cannot stand as itself: a glob's own characters, a space (it ends a rule), quotes (redis-cli
 * reads them) and `)` (it ends a selector). A class that leaves only this byte keeps the pattern from
 * matching another queue's name, which `?` would.
 */
const ESCAPES: Readonly<Record<string, string>> = {
  " ": "[^!-~]",
  '"': "[^!#-~]",
  "'": "[^!-&(-~]",
  ")": "[)]",
};

/** A key pattern that matches exactly this text. */
export function literal(text: string): string {
  return text.replaceAll(/[*?[\]\\^\- "')]/g, (char) => ESCAPES[char] ?? `\\${char}`);
}

/** A key pattern for every key that begins with this text. */
export function startsWith(text: string): string {
  return `${literal(text)}*`;
}
