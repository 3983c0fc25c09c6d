/** What a command does to the server: reads, writes, or writes what `maxmemory` may refuse. */
type Access = "read" | "write" | "denyoom";

/** Type a key must have, or `any` where the command takes whatever stands there. */
type KeyType = "any" | "string" | "hash" | "list" | "set" | "zset" | "stream";

export interface Command {
  readonly type: KeyType;
  readonly access: Access;
  /** First key, last key (negative: counted from the end) and step, the command's name being 0. */
  readonly keys: readonly [first: number, last: number, step: number];
}

/**
 * The closed inventory: commands that existed in Redis 6.2, may run in a script, and whose keys stand
 * at fixed positions. Source: `COMMAND` and `COMMAND DOCS` of Redis 7.0 and Valkey 8.0, entries with
 * `since` up to 6.2, on which the two agree. Left out: commands that answer by chance, and those whose
 * keys are found by counting (`EVAL`, `SORT`, `XREAD`, `ZUNIONSTORE`).
 */
export const COMMANDS: Readonly<Record<string, Command>> = {
  // any
  COPY: row("any", "denyoom", [1, 2, 1]),
  DEL: row("any", "write", [1, -1, 1]),
  DUMP: row("any", "read"),
  EXISTS: row("any", "read", [1, -1, 1]),
  EXPIRE: row("any", "write"),
  EXPIREAT: row("any", "write"),
  PERSIST: row("any", "write"),
  PEXPIRE: row("any", "write"),
  PEXPIREAT: row("any", "write"),
  PTTL: row("any", "read"),
  RENAME: row("any", "write", [1, 2, 1]),
  RENAMENX: row("any", "write", [1, 2, 1]),
  RESTORE: row("any", "denyoom"),
  TOUCH: row("any", "read", [1, -1, 1]),
  TTL: row("any", "read"),
  TYPE: row("any", "read"),
  UNLINK: row("any", "write", [1, -1, 1]),
  // string
  APPEND: row("string", "denyoom"),
  DECR: row("string", "denyoom"),
  DECRBY: row("string", "denyoom"),
  GET: row("string", "read"),
  GETDEL: row("string", "write"),
  GETEX: row("string", "write"),
  GETRANGE: row("string", "read"),
  GETSET: row("string", "denyoom"),
  INCR: row("string", "denyoom"),
  INCRBY: row("string", "denyoom"),
  INCRBYFLOAT: row("string", "denyoom"),
  MGET: row("string", "read", [1, -1, 1]),
  MSET: row("string", "denyoom", [1, -1, 2]),
  MSETNX: row("string", "denyoom", [1, -1, 2]),
  PSETEX: row("string", "denyoom"),
  SET: row("string", "denyoom"),
  SETEX: row("string", "denyoom"),
  SETNX: row("string", "denyoom"),
  SETRANGE: row("string", "denyoom"),
  STRLEN: row("string", "read"),
  // hash
  HDEL: row("hash", "write"),
  HEXISTS: row("hash", "read"),
  HGET: row("hash", "read"),
  HGETALL: row("hash", "read"),
  HINCRBY: row("hash", "denyoom"),
  HINCRBYFLOAT: row("hash", "denyoom"),
  HKEYS: row("hash", "read"),
  HLEN: row("hash", "read"),
  HMGET: row("hash", "read"),
  HMSET: row("hash", "denyoom"),
  HSCAN: row("hash", "read"),
  HSET: row("hash", "denyoom"),
  HSETNX: row("hash", "denyoom"),
  HSTRLEN: row("hash", "read"),
  HVALS: row("hash", "read"),
  // list
  LINDEX: row("list", "read"),
  LINSERT: row("list", "denyoom"),
  LLEN: row("list", "read"),
  LMOVE: row("list", "denyoom", [1, 2, 1]),
  LPOP: row("list", "write"),
  LPOS: row("list", "read"),
  LPUSH: row("list", "denyoom"),
  LRANGE: row("list", "read"),
  LREM: row("list", "write"),
  LSET: row("list", "denyoom"),
  LTRIM: row("list", "write"),
  RPOP: row("list", "write"),
  RPOPLPUSH: row("list", "denyoom", [1, 2, 1]),
  RPUSH: row("list", "denyoom"),
  RPUSHX: row("list", "denyoom"),
  // set
  SADD: row("set", "denyoom"),
  SCARD: row("set", "read"),
  SDIFF: row("set", "read", [1, -1, 1]),
  SDIFFSTORE: row("set", "denyoom", [1, -1, 1]),
  SINTER: row("set", "read", [1, -1, 1]),
  SINTERSTORE: row("set", "denyoom", [1, -1, 1]),
  SISMEMBER: row("set", "read"),
  SMEMBERS: row("set", "read"),
  SMISMEMBER: row("set", "read"),
  SMOVE: row("set", "write", [1, 2, 1]),
  SREM: row("set", "write"),
  SSCAN: row("set", "read"),
  SUNION: row("set", "read", [1, -1, 1]),
  SUNIONSTORE: row("set", "denyoom", [1, -1, 1]),
  // zset
  ZADD: row("zset", "denyoom"),
  ZCARD: row("zset", "read"),
  ZCOUNT: row("zset", "read"),
  ZINCRBY: row("zset", "denyoom"),
  ZLEXCOUNT: row("zset", "read"),
  ZMSCORE: row("zset", "read"),
  ZPOPMAX: row("zset", "write"),
  ZPOPMIN: row("zset", "write"),
  ZRANGE: row("zset", "read"),
  ZRANGEBYLEX: row("zset", "read"),
  ZRANGEBYSCORE: row("zset", "read"),
  ZRANGESTORE: row("zset", "denyoom", [1, 2, 1]),
  ZRANK: row("zset", "read"),
  ZREM: row("zset", "write"),
  ZREMRANGEBYLEX: row("zset", "write"),
  ZREMRANGEBYRANK: row("zset", "write"),
  ZREMRANGEBYSCORE: row("zset", "write"),
  ZREVRANGE: row("zset", "read"),
  ZREVRANGEBYLEX: row("zset", "read"),
  ZREVRANGEBYSCORE: row("zset", "read"),
  ZREVRANK: row("zset", "read"),
  ZSCAN: row("zset", "read"),
  ZSCORE: row("zset", "read"),
  // stream
  XACK: row("stream", "write"),
  XADD: row("stream", "denyoom"),
  XAUTOCLAIM: row("stream", "write"),
  XCLAIM: row("stream", "write"),
  XDEL: row("stream", "write"),
  XLEN: row("stream", "read"),
  XPENDING: row("stream", "read"),
  XRANGE: row("stream", "read"),
  XREVRANGE: row("stream", "read"),
  XSETID: row("stream", "denyoom"),
  XTRIM: row("stream", "write"),
};

/** Commands that answer by chance or by the clock (W4). */
export const IMPURE: ReadonlySet<string> = new Set([
  "TIME",
  "RANDOMKEY",
  "SRANDMEMBER",
  "SPOP",
  "HRANDFIELD",
  "ZRANDMEMBER",
]);

/** Commands that walk the whole keyspace (W6). */
export const WALKS: ReadonlySet<string> = new Set([
  "KEYS",
  "SCAN",
  "DBSIZE",
  "FLUSHDB",
  "FLUSHALL",
]);

/** Commands that overwrite a key of any type. */
export const OVERWRITES: ReadonlySet<string> = new Set(["SET", "SETEX", "PSETEX", "MSET"]);

/** Commands that may raise though the key has their type: by what it holds, or by a missing key. */
export const RAISE_BY_VALUE: ReadonlySet<string> = new Set([
  "DECR",
  "DECRBY",
  "HINCRBY",
  "HINCRBYFLOAT",
  "INCR",
  "INCRBY",
  "INCRBYFLOAT",
  "LSET",
  "RESTORE",
  "XADD",
  "XSETID",
]);

/** Options that came after 6.2, by command (W10). */
export const LATER_OPTIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  EXPIRE: new Set(["NX", "XX", "GT", "LT"]),
  EXPIREAT: new Set(["NX", "XX", "GT", "LT"]),
  PEXPIRE: new Set(["NX", "XX", "GT", "LT"]),
  PEXPIREAT: new Set(["NX", "XX", "GT", "LT"]),
  ZRANK: new Set(["WITHSCORE"]),
  ZREVRANK: new Set(["WITHSCORE"]),
};

function row(type: KeyType, access: Access, keys: Command["keys"] = [1, 1, 1]): Command {
  return { type, access, keys };
}
