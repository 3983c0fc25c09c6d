import type { ErrorContext, ServerCode, WireCode } from "./errors.js";
import { ServerError, WireError } from "./errors.js";

/** Every class a script may refuse with, and what it means. */
export const WIRE_CODES: { readonly [C in WireCode]: string } = {
  EMQFENCE: "the stamp names another version, or there is none",
  EMQSTALE: "the lease token is no longer valid",
  EMQSTATE: "the job or the queue is not in the state the verb needs",
  EMQMISSING: "there is no such job",
  EMQPARENT: "the parent is missing or has finished",
  EMQRETRY: "a declared pointer moved; read it again",
  EMQFULL: "the queue's limit is reached",
  EMQARG: "an argument was refused",
};

/** First words of a server's error reply that have a code of their own. */
const SERVER_WORDS: ReadonlyMap<string, ServerCode> = new Map<string, ServerCode>([
  ["LOADING", "LOADING"],
  ["READONLY", "READONLY"],
  ["NOAUTH", "NOAUTH"],
  ["WRONGPASS", "NOAUTH"],
  ["NOPERM", "NOPERM"],
  ["OOM", "OOM"],
  ["CLUSTERDOWN", "CLUSTERDOWN"],
  ["TRYAGAIN", "TRYAGAIN"],
  ["MASTERDOWN", "MASTERDOWN"],
  ["NOSCRIPT", "NOSCRIPT"],
  ["WRONGTYPE", "WRONGTYPE"],
  ["BUSY", "BUSY"],
  ["UNBLOCKED", "UNBLOCKED"],
]);

/** Redis before 7 wraps what a command inside a script raised; the class follows the position. */
const WRAPPED =
  /^ERR Error running script \(call to f_[0-9a-f]{40}\): @user_script:\d+: (?:@user_script: \d+: )?-?([A-Z]+) /;

/** How Redis and Valkey say that a script met a key or command its user has no right to. */
const REFUSED_IN_SCRIPT = /^ERR (?:ACL failure in script|The user executing the script can't )/;

/**
 * Turns the text of an error reply, or of one refused item of a batch, into a typed error.
 * The first word decides; a word that is not known gives `UNKNOWN` with the text unchanged. `about` is the
 * operation, or all that is known of what the error is about.
 */
export function errorFromReply(
  text: string,
  about: string | ErrorContext = {},
): WireError | ServerError {
  const context = typeof about === "string" ? { op: about } : about;
  const space = text.indexOf(" ");
  const word = space === -1 ? text : text.slice(0, space);
  if (isWireCode(word)) {
    return new WireError({
      code: word,
      detail: space === -1 ? "" : text.slice(space + 1),
      ...context,
    });
  }
  if (REFUSED_IN_SCRIPT.test(text))
    return new ServerError({ code: "NOPERM", detail: text, ...context });
  const inner = word === "ERR" ? WRAPPED.exec(text)?.[1] : undefined;
  const code = SERVER_WORDS.get(inner ?? word) ?? "UNKNOWN";
  return new ServerError({ code, detail: text, ...context });
}

function isWireCode(word: string): word is WireCode {
  return Object.hasOwn(WIRE_CODES, word);
}
