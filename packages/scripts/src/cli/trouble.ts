import { isEchoMQError } from "@echomq/wire";
import { typedError } from "../dispatch/errors.js";
import { isDriverFault } from "../driver/types.js";
import { shownAddress } from "./address.js";

/** Trouble with a server or the way to it, told to a person. */
export interface Trouble {
  /** Class of the trouble, e.g. `CONNECTION_LOST` or `NOAUTH`. */
  readonly code: string;
  /** One sentence that says what is wrong and where to look. */
  readonly message: string;
}

/** What the text of a failure means; the first that fits is told. */
const SAYINGS: readonly (readonly [RegExp, (server: string, text: string) => string])[] = [
  [
    /ECONNREFUSED/,
    (at) => `nothing listens at ${at}: is the server running, and is this its port?`,
  ],
  [/ENOTFOUND|EAI_AGAIN/, (at) => `the host of ${at} is not known here.`],
  [
    /EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/,
    (at) => `${at} cannot be reached from here: look at the network and the firewall.`,
  ],
  [
    /no answer within|Protocol error|RESP type|wrong version number|packet length too long/,
    (at) =>
      `${at} does not answer as a Redis server: look at host, port and whether TLS is meant (redis:// or rediss://).`,
  ],
  [/WRONGPASS/, (at) => `${at} refuses this user name or password.`],
  [/NOAUTH/, (at) => `${at} wants a password: put it into the address, best by ECHOMQ_REDIS_URL.`],
  [/DB index|SELECT is not allowed/, (at) => `${at}: the server has no such database.`],
  [/NOPERM|ACL failure/, (at, text) => `the user has no right to this at ${at}: ${text}`],
];

/**
 * Tells trouble with the server, or with the way to it, from every other failure, for which it answers
 * null. User and password are never repeated.
 */
export function connectionTrouble(error: unknown, url: string): Trouble | null {
  if (!isDriverFault(error) && !isEchoMQError(error)) return null;
  const typed = typedError(error, "connect");
  const { code, transient } = typed;
  const message = "detail" in typed ? String(typed.detail) : typed.message;
  const away = code === "CONNECTION_LOST" || code === "NOAUTH" || isDriverFault(error);
  if (!away && code !== "NOPERM" && !transient) return null;
  const server = shownAddress(url);
  // The cause of an attempt that was given up says more than that it was given up.
  const saying = SAYINGS.find(([sign]) => sign.test(message));
  const text = message.replace(/^no connection to Redis within \d+ ms: /, "");
  const told = saying?.[1](server, text) ?? `trouble with ${server}: ${text}`;
  return { code: code === "UNKNOWN" ? "CONFIG" : code, message: told };
}
