import { shellWord } from "./text.js";

/** The server that is meant when nobody names one. */
const DEFAULT_URL = "redis://127.0.0.1:6379";

/** The address a command line uses where none is given: that of the environment, else this machine's. */
export function defaultAddress(env: Readonly<Record<string, string | undefined>>): string {
  return env.ECHOMQ_REDIS_URL || DEFAULT_URL;
}

/** What is wrong with the address of a server, or null; what was given is not repeated, since a password may stand in it. */
export function addressFault(url: string): string | null {
  const form = "expected redis://host:port or rediss://host:port";
  if (!/^rediss?:\/\/\S+$/.test(url) || !URL.canParse(url)) return form;
  const { hostname, pathname, searchParams } = new URL(url);
  if (hostname === "") return form;
  const db = searchParams.get("db") ?? "0";
  if (!/^\/?\d*$/.test(pathname) || !/^\d+$/.test(db)) {
    return `${form}, with a number as database, e.g. /0`;
  }
  return null;
}

/** An address as it may be shown: without user and password. */
export function shownAddress(url: string): string {
  if (addressFault(url) !== null) return "the server";
  const { protocol, hostname, port, pathname } = new URL(url);
  const db = /^\/0*$/.test(pathname) ? "" : pathname;
  return `${protocol}//${hostname}:${port || "6379"}${db}`;
}

/** An address as a word of a command to run; a password is named by the variable it belongs into. */
export function addressWord(url: string): string {
  const secret = /^rediss?:\/\/[^/@]*:[^/@]+@/.test(url) || /[?&]password=/i.test(url);
  return secret ? '"$ECHOMQ_REDIS_URL"' : shellWord(url);
}
