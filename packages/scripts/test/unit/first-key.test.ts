import { expect, test } from "vitest";
import { firstKey } from "../../src/lane/first-key.js";

test.each([
  [["GET", "k"], "k"],
  [["get", "k"], "k"],
  [["EVALSHA", "sha", "2", "k", "l"], "k"],
  [["EVAL", "return 1", "0"], undefined],
  [["eval", "return 1", "0", "argument"], undefined],
  [["FCALL", "f", "1", "k"], "k"],
  [["XREAD", "COUNT", "1", "streams", "k", "0"], "k"],
  [["XREADGROUP", "GROUP", "g", "c", "STREAMS", "k", ">"], "k"],
  [["OBJECT", "ENCODING", "k"], "k"],
  [["ZMPOP", "1", "k", "MIN"], "k"],
  [["BZMPOP", "0", "1", "k", "MIN"], "k"],
  [["BZPOPMIN", "k", "0"], "k"],
  [["PING"], undefined],
  [["SCRIPT", "LOAD", "x"], undefined],
  [["CLIENT", "ID"], undefined],
])("%j", (args, key) => {
  expect(firstKey(args)).toBe(key);
});
