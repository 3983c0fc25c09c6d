import type { Arg, Command } from "@echomq/scripts";

type KeysOf = (args: readonly Arg[]) => readonly Arg[];

const text = (arg: Arg | undefined): string =>
  arg === undefined ? "" : typeof arg === "string" ? arg : Buffer.from(arg).toString("utf8");

const none: KeysOf = () => [];
const first: KeysOf = (args) => args.slice(0, 1);
const second: KeysOf = (args) => args.slice(1, 2);
const firstTwo: KeysOf = (args) => args.slice(0, 2);
const all: KeysOf = (args) => args;
const allButLast: KeysOf = (args) => args.slice(0, -1);
const everyOther: KeysOf = (args) => args.filter((_, index) => index % 2 === 0);

/** Keys that follow their own count at `position`. */
function counted(position: number): KeysOf {
  return (args) => {
    const count = Number(text(args[position]));
    const keys = args.slice(position + 1, position + 1 + count);
    if (!Number.isInteger(count) || count < 0 || keys.length !== count) {
      throw new Error(`strict mode cannot read the key count ${text(args[position])}`);
    }
    return keys;
  };
}

const streams: KeysOf = (args) => {
  const start = args.findIndex((arg) => text(arg).toUpperCase() === "STREAMS") + 1;
  const rest = args.slice(start);
  return rest.slice(0, rest.length / 2);
};

function rows(keysOf: KeysOf, names: string): [string, KeysOf][] {
  return names.split(" ").map((name) => [name, keysOf]);
}

const TABLE = new Map<string, KeysOf>([
  ...rows(counted(1), "EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO BLMPOP BZMPOP"),
  ...rows(counted(0), "LMPOP ZMPOP SINTERCARD ZINTER ZUNION ZDIFF"),
  ...rows(none, "PING ECHO TIME INFO HELLO AUTH SELECT CLIENT CONFIG COMMAND SCRIPT FUNCTION"),
  ...rows(none, "DBSIZE FLUSHALL FLUSHDB DEBUG ROLE WAIT WAITAOF ACL CLUSTER READONLY READWRITE"),
  ...rows(none, "PUBLISH SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE MULTI EXEC DISCARD UNWATCH"),
  ...rows(none, "SCAN KEYS QUIT RESET LATENCY SLOWLOG"),
  ...rows(first, "GET SET SETNX SETEX PSETEX GETSET GETDEL GETEX GETRANGE STRLEN APPEND TYPE DUMP"),
  ...rows(first, "INCR INCRBY DECR DECRBY TTL PTTL EXPIRE PEXPIRE EXPIREAT PEXPIREAT EXPIRETIME"),
  ...rows(first, "PEXPIRETIME PERSIST RESTORE"),
  ...rows(
    first,
    "HGET HSET HSETNX HMSET HGETALL HMGET HDEL HEXISTS HLEN HKEYS HVALS HSCAN HINCRBY",
  ),
  ...rows(first, "HSTRLEN LLEN LRANGE LPUSH RPUSH LPUSHX RPUSHX LPOP RPOP LREM LTRIM LINDEX LSET"),
  ...rows(
    first,
    "LINSERT LPOS SADD SREM SCARD SMEMBERS SISMEMBER SMISMEMBER SPOP SRANDMEMBER SSCAN",
  ),
  ...rows(first, "ZADD ZREM ZCARD ZSCORE ZMSCORE ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE"),
  ...rows(first, "ZRANGEBYLEX ZCOUNT ZLEXCOUNT ZRANK ZREVRANK ZPOPMIN ZPOPMAX ZINCRBY ZSCAN"),
  ...rows(first, "ZREMRANGEBYSCORE ZREMRANGEBYRANK ZREMRANGEBYLEX ZRANDMEMBER"),
  ...rows(first, "XADD XLEN XRANGE XREVRANGE XDEL XTRIM XACK XPENDING XCLAIM XAUTOCLAIM XSETID"),
  ...rows(second, "OBJECT XINFO XGROUP MEMORY"),
  ...rows(firstTwo, "RENAME RENAMENX COPY LMOVE BLMOVE RPOPLPUSH BRPOPLPUSH SMOVE ZRANGESTORE"),
  ...rows(all, "DEL UNLINK EXISTS TOUCH MGET WATCH SINTER SUNION SDIFF"),
  ...rows(allButLast, "BZPOPMIN BZPOPMAX BLPOP BRPOP"),
  ...rows(everyOther, "MSET MSETNX"),
  ...rows(streams, "XREAD XREADGROUP"),
]);

/**
 * The keys a command declares.
 * @throws Error where strict mode does not know the command, so nothing passes by being new.
 */
export function keysOf(command: Command): readonly Arg[] {
  const name = text(command[0]).toUpperCase();
  const read = TABLE.get(name);
  if (!read) throw new Error(`strict mode does not know the keys of ${name}`);
  return read(command.slice(1));
}
