import { check, same, text } from "../check.js";
import type { KitCase } from "../types.js";

const ALL_BYTES_SHA1 = "4916d6bdb7f78e6803698cab32d1586ea457dfc8";
const SHA1_OF_KEY = "return redis.sha1hex(redis.call('GET', KEYS[1]))";

/** Cases on what goes in and what comes out. */
export const replyCases: readonly KitCase[] = [
  {
    id: "reply.text",
    title: "text goes in and out as UTF-8",
    async run({ open, key }) {
      const driver = await open();
      const value = 'plain "quoted" \r\n $5 é € 𝄞 \u0000 end';
      same(await driver.command(["SET", key("a"), value]), "OK", "SET answers its status as text");
      same(await driver.command(["GET", key("a")]), value, "GET");
      same(await driver.command(["STRLEN", key("a")]), 38, "bytes stored");
    },
  },
  {
    id: "reply.binary",
    title: "bytes reach the server unchanged, also from a view into a larger buffer",
    async run({ open, key }) {
      const driver = await open();
      const large = new Uint8Array(300).map((_, i) => (i + 256 - 20) % 256);
      const bytes = large.subarray(20, 276);
      await driver.command(["SET", key("a"), bytes]);
      const sha = await driver.command(["EVAL", SHA1_OF_KEY, "1", key("a")]);
      same(sha, ALL_BYTES_SHA1, "SHA-1 of the bytes 0 to 255");
    },
  },
  {
    id: "reply.empty-string",
    title: "an empty string is not null",
    async run({ open, key }) {
      const driver = await open();
      await driver.command(["SET", key("a"), ""]);
      same(await driver.command(["GET", key("a")]), "", "GET of an empty string");
      await driver.command(["SET", key("a"), new Uint8Array()]);
      same(await driver.command(["GET", key("a")]), "", "GET of no bytes");
    },
  },
  {
    id: "reply.null-and-empty",
    title: "null, an empty array and a null array are told apart",
    async run({ open, key }) {
      const driver = await open();
      same(await driver.command(["GET", key("none")]), null, "GET of no key");
      same(await driver.command(["LRANGE", key("none"), "0", "-1"]), [], "LRANGE of no key");
      same(await driver.command(["BLPOP", key("none"), "0.01"]), null, "BLPOP that timed out");
      same(await driver.command(["EVAL", "return {}", "1", key("none")]), [], "an empty table");
      same(await driver.command(["HMGET", key("none"), "f"]), [null], "null in an array");
    },
  },
  {
    id: "reply.integers",
    title: "integers are numbers, exact up to 2^52",
    async run({ open, key }) {
      const driver = await open();
      same(
        await driver.command(["INCRBY", key("a"), "4503599627370495"]),
        4503599627370495,
        "large",
      );
      same(await driver.command(["INCRBY", key("b"), "-5"]), -5, "negative");
      same(await driver.command(["EXISTS", key("none")]), 0, "zero");
      same(await driver.command(["EVAL", "return true", "1", key("a")]), 1, "true of a script");
      same(
        await driver.command(["EVAL", "return false", "1", key("a")]),
        null,
        "false of a script",
      );
    },
  },
  {
    id: "reply.nested",
    title: "arrays nest, and an error inside an array is its text",
    async run({ open, key }) {
      const driver = await open();
      const script = "return {1, {'a', {}, {2, {'é'}}}, false, redis.error_reply('EMQSTALE x')}";
      const reply = await driver.command(["EVAL", script, "1", key("a")]);
      same(reply, [1, ["a", [], [2, ["é"]]], null, "EMQSTALE x"], "nested reply");
    },
  },
  {
    id: "reply.resp2",
    title: "replies have the shape of RESP2",
    async run({ open, key }) {
      const driver = await open();
      same(driver.info.protocol === 2 || driver.info.protocol === 3, true, "info.protocol");
      await driver.command(["ZADD", key("z"), "1.5", "one", "2", "two"]);
      same(
        await driver.command(["ZRANGE", key("z"), "0", "-1", "WITHSCORES"]),
        ["one", "1.5", "two", "2"],
        "ZRANGE WITHSCORES is flat and its scores are text",
      );
      same(await driver.command(["ZSCORE", key("z"), "one"]), "1.5", "ZSCORE is text");
      await driver.command(["HSET", key("h"), "f", "1", "g", "2"]);
      same(await driver.command(["HGETALL", key("h")]), ["f", "1", "g", "2"], "HGETALL is flat");
      same(await driver.command(["hgetall", key("h")]), ["f", "1", "g", "2"], "in any case");
      await driver.command(["XADD", key("x"), "1-1", "f", "v"]);
      same(await driver.command(["XRANGE", key("x"), "-", "+"]), [["1-1", ["f", "v"]]], "XRANGE");
      same(
        await driver.command(["XREAD", "COUNT", "1", "STREAMS", key("x"), "0"]),
        [[key("x"), [["1-1", ["f", "v"]]]]],
        "XREAD is an array of pairs",
      );
      await driver.command(["SADD", key("s"), "m"]);
      same(await driver.command(["SMEMBERS", key("s")]), ["m"], "SMEMBERS is an array");
      same(await driver.command(["SISMEMBER", key("s"), "m"]), 1, "SISMEMBER is a number");
    },
  },
  {
    id: "reply.large",
    title: "a payload of one megabyte goes in and out",
    async run({ open, key }) {
      const driver = await open();
      const value = "0123456789abcdé".repeat(65_536);
      await driver.command(["SET", key("a"), value]);
      const reply = text(await driver.command(["GET", key("a")]));
      check(reply === value, `one megabyte came back changed (${reply.length} characters)`);
    },
  },
  {
    id: "reply.many-arguments",
    title: "a command with 20 000 arguments is sent whole",
    async run({ open, key }) {
      const driver = await open();
      const members = Array.from({ length: 20_000 }, (_, i) => `m${i}`);
      same(await driver.command(["RPUSH", key("l"), ...members]), 20_000, "RPUSH");
    },
  },
];
