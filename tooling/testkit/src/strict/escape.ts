import type { Arg } from "@echomq/scripts";

const SPECIAL = new Set([..."*?[]\\^-"].map((char) => char.charCodeAt(0)));
const SPACES = new Set([0, 9, 10, 11, 12, 13, 32]);
const BACKSLASH = 92;
const QUESTION_MARK = 63;

/** An ACL rule that allows exactly this key. */
export function keyRule(key: Arg): Buffer {
  const bytes = typeof key === "string" ? Buffer.from(key, "utf8") : Buffer.from(key);
  const out: number[] = ["~".charCodeAt(0)];
  for (const byte of bytes) {
    // A rule cannot hold a space or a zero byte, so any one byte stands for it.
    if (SPACES.has(byte)) out.push(QUESTION_MARK);
    else if (SPECIAL.has(byte)) out.push(BACKSLASH, byte);
    else out.push(byte);
  }
  return Buffer.from(out);
}
