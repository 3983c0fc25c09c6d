import type { Rule } from "./finding.js";

/** Globals a script may use, all of them in Lua 5.1 and 5.4 and on Redis 6.2 and Valkey. */
export const FUNCTIONS: ReadonlySet<string> = new Set([
  "ipairs",
  "pairs",
  "tonumber",
  "tostring",
  "type",
  "unpack",
]);

export const MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  string: new Set(
    "byte char find format gmatch gsub len lower match rep reverse sub upper".split(" "),
  ),
  table: new Set("concat insert remove sort unpack".split(" ")),
  math: new Set("abs ceil floor fmod huge max min modf sqrt".split(" ")),
  cjson: new Set(["encode", "null"]),
  redis: new Set(["call", "pcall", "error_reply", "status_reply", "sha1hex"]),
};

const CODE = "runs text that the lint cannot see";
const OUTSIDE = "reads something other than KEYS and ARGV";
const ROUND = "reaches globals by a way the lint cannot follow";

/** Globals that break a law, by name or by `name.member`. */
export const FORBIDDEN: Readonly<Record<string, readonly [Rule, string]>> = {
  load: ["W4", CODE],
  loadstring: ["W4", CODE],
  loadfile: ["W4", CODE],
  dofile: ["W4", CODE],
  require: ["W4", CODE],
  os: ["W4", OUTSIDE],
  io: ["W4", OUTSIDE],
  "math.random": ["W4", "is random"],
  "math.randomseed": ["W4", "is random"],
  "redis.setresp": ["W4", "changes what every reply looks like"],
  "redis.replicate_commands": ["W4", "changes how the script is replicated"],
  "redis.set_repl": ["W4", "changes how the script is replicated"],
  "cjson.decode": ["W4", "decodes what a user gave"],
  cmsgpack: ["W10", "is not on every server"],
  _G: ["W1", ROUND],
  getfenv: ["W1", ROUND],
  setfenv: ["W1", ROUND],
  rawget: ["W1", ROUND],
  rawset: ["W1", ROUND],
  getmetatable: ["W1", ROUND],
  setmetatable: ["W1", ROUND],
};
