import { record, refuse, shown, whole } from "../options/check.js";
import { timeOf } from "./clock.js";
import type { ConnectionOption, ServerAddress } from "./types.js";

const FORMS = "a driver, an ioredis or node-redis client, a redis:// URL or { host, port }";

/**
 * Checks the form of a `connection` option, without connecting.
 * @throws ValidationError `VALIDATION` naming the option.
 */
export function checkConnection(given: unknown): void {
  const option: unknown = timeOf(given as ConnectionOption).connection;
  if (option === undefined || option === null) refuse("connection", `is required: ${FORMS}`);
  if (typeof option === "string") checkUrl(option);
  else if (typeof option !== "object" || Array.isArray(option)) {
    refuse("connection", `must be ${FORMS}, got ${shown(option)}`);
  } else if (!isDriver(option as object) && !isClient(option as object)) {
    checkAddress(option as object);
  }
}

/** Tells a driver by its methods: any package may bring one. */
export function isDriver(option: object): boolean {
  return "fork" in option && "pipeline" in option && "command" in option;
}

/** Tells an ioredis or node-redis client by its methods. */
export function isClient(option: object): boolean {
  return "duplicate" in option && ("call" in option || "sendCommand" in option);
}

/** The URL of an address. */
export function urlOf(address: ServerAddress): string {
  const { host, port = 6379, username = "", password, db = 0, tls = false } = address;
  const user = encodeURIComponent(username);
  const login = password === undefined ? "" : `${user}:${encodeURIComponent(password)}@`;
  const name = host.includes(":") ? `[${host}]` : host;
  return `${tls ? "rediss" : "redis"}://${login}${name}:${port}/${db}`;
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "redis:" && url.protocol !== "rediss:")) {
    refuse("connection", "a URL must start with redis:// or rediss://");
  }
  if (url.hostname === "") refuse("connection", "the URL names no host");
  if (!/^\/?\d*$/.test(url.pathname)) {
    refuse("connection", "the path of the URL must be a database number, e.g. /0");
  }
}

const ADDRESS_KEYS = ["host", "port", "username", "password", "db", "tls"] as const;

function checkAddress(option: object): void {
  const address = record("connection", option, ADDRESS_KEYS);
  const { host, port, username, password, db, tls } = address;
  if (typeof host !== "string" || host === "" || /[\s/@?#]/.test(host)) {
    refuse("connection.host", `must be a host name or an IP address, got ${shown(host)}`);
  }
  whole("connection.port", port, 1, 65_535);
  whole("connection.db", db, 0, 1_000_000);
  for (const [name, value] of Object.entries({ username, password })) {
    if (value !== undefined && typeof value !== "string") {
      // A password is never shown.
      refuse(`connection.${name}`, "must be a string");
    }
  }
  if (username !== undefined && password === undefined) {
    refuse("connection.password", "is required where a username is given");
  }
  if (tls !== undefined && typeof tls !== "boolean") {
    refuse("connection.tls", `must be true or false, got ${shown(tls)}`);
  }
}
