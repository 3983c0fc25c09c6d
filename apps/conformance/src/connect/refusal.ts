import { isEchoMQError } from "@echomq/wire";
import { Broken, Refused } from "../outcome.js";

/** How servers say that a command is not there, renamed, or not allowed to this user. */
const RIGHT =
  /^NOPERM |^ERR unknown (?:sub)?command|^ERR Unknown (?:sub)?command|ACL failure|can't run this command|can't access at least one/;

/** How servers say that a user may not touch a key. */
const KEY =
  /can't access at least one|ACL failure in script|No permissions to access a key|key permissions|access one of the keys/i;

/** The text with which the server refused a right, or null where the error is another. */
export function refusalOf(error: unknown): string | null {
  if (error instanceof Broken || error instanceof Refused) return null;
  const text = textOf(error);
  return isEchoMQError(error, "NOPERM") || RIGHT.test(text) ? text : null;
}

/** True for the answer to a call that touched a key its user has no right to. */
export function refusesKey(text: string): boolean {
  return KEY.test(text);
}

/** What an error says, on one line. */
export function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ").trim();
}
