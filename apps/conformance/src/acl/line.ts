import type { Mode } from "./manifest.js";
import type { Rights } from "./rights.js";

/** Oldest server a line must work on. 6.2 knows neither read-only keys nor selectors. */
export const SERVERS = ["6.2", "7.0", "7.2"] as const;
export type ServerVersion = (typeof SERVERS)[number];

/** How the connection is made, beside one server and its database 0. */
export interface LineOptions {
  readonly server: ServerVersion;
  readonly cluster: boolean;
  readonly database: boolean;
}

const SIGNS: Readonly<Record<Mode, string>> = { "-": "%R~", r: "%R~", w: "%W~", rw: "~" };

/**
 * The rules of a user, after its name. A script may run only where its user has both rights on every
 * key it declares, so from 7.0 on a selector of its own allows that, for `EVALSHA` and `EVAL` alone; the
 * commands a script calls are still held to the first rules.
 */
export function userRules(rights: Rights, options: LineOptions): readonly string[] {
  const { commands, keys, declared } = rights;
  const plain = [...commands, ...connection(options)].sort().map((name) => `+${name}`);
  const running = ["+eval", "+evalsha"];
  const begin = ["on", ">PASSWORD", "resetkeys", "resetchannels"];
  const nothing = ["-@all", "-@dangerous"];
  if (options.server === "6.2") {
    const all = [...new Set([...keys.keys(), ...declared])].sort().map((pattern) => `~${pattern}`);
    return [...begin, ...nothing, ...plain, ...running, ...all];
  }
  const signed = [...keys].map(([pattern, mode]) => SIGNS[mode] + pattern);
  const selector = [...running, ...declared.map((pattern) => `~${pattern}`)].join(" ");
  return [...begin, "clearselectors", ...nothing, ...plain, ...signed, `(${selector})`];
}

function connection({ server, cluster, database }: LineOptions): readonly string[] {
  return [
    // Clients say who they are where the server knows the command; a server that does not refuses the rule.
    ...(server === "7.2" ? ["client|setinfo"] : []),
    ...(cluster ? ["asking", "cluster|slots"] : []),
    ...(database ? ["select"] : []),
  ];
}
