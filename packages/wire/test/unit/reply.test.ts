import { describe, expect, test } from "vitest";
import { errorFromReply, ServerError, WIRE_CODES, WireError } from "../../src/index.js";

const sha = "0123456789abcdef0123456789abcdef01234567";

describe("errorFromReply", () => {
  test.each(Object.keys(WIRE_CODES))("makes a WireError of %s", (code) => {
    const error = errorFromReply(`${code} job 5: gone`, "Worker.settle");
    expect(error).toBeInstanceOf(WireError);
    expect(error).toMatchObject({
      name: "WireError",
      code,
      detail: "job 5: gone",
      message: expect.stringMatching(`^${code} job 5: gone`),
      op: "Worker.settle",
      transient: false,
    });
  });

  test.each([
    ["LOADING Redis is loading the dataset in memory", "LOADING", true],
    ["READONLY You can't write against a read only replica.", "READONLY", true],
    ["CLUSTERDOWN The cluster is down", "CLUSTERDOWN", true],
    ["TRYAGAIN Multiple keys request during rehashing of slot", "TRYAGAIN", true],
    ["MASTERDOWN Link with MASTER is down", "MASTERDOWN", true],
    ["BUSY Redis is busy running a script.", "BUSY", true],
    ["UNBLOCKED force unblock from blocking operation", "UNBLOCKED", true],
    ["NOAUTH Authentication required.", "NOAUTH", false],
    ["WRONGPASS invalid username-password pair or user is disabled.", "NOAUTH", false],
    ["NOPERM this user has no permissions to run the 'get' command", "NOPERM", false],
    [
      "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: 0, on @user_script:1.",
      "NOPERM",
      false,
    ],
    ["ERR ACL failure in script: No permissions to access a key script: 0", "NOPERM", false],
    ["OOM command not allowed when used memory > 'maxmemory'.", "OOM", false],
    [
      `OOM command not allowed when used memory > 'maxmemory'. script: ${sha}, on @user_script:1.`,
      "OOM",
      false,
    ],
    ["NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT", false],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "WRONGTYPE", false],
    ["ERR unknown command 'FOO'", "UNKNOWN", false],
    ["ERR EMQSTALE", "UNKNOWN", false],
    ["MISCONF Redis is configured to save RDB snapshots", "UNKNOWN", false],
    ["EMQ something", "UNKNOWN", false],
    ["emqstale lower case", "UNKNOWN", false],
    ["__proto__ x", "UNKNOWN", false],
    ["constructor x", "UNKNOWN", false],
    ["", "UNKNOWN", false],
  ])("makes a ServerError of %j: %s, transient %s", (text, code, transient) => {
    const error = errorFromReply(text);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({
      name: "ServerError",
      code,
      detail: text,
      message: text,
      transient,
    });
    expect("op" in error).toBe(false);
  });

  test.each([
    [
      `ERR Error running script (call to f_${sha}): @user_script:1: WRONGTYPE Operation against a key`,
      "WRONGTYPE",
    ],
    [
      `ERR Error running script (call to f_${sha}): @user_script:12: @user_script: 12: -OOM command not allowed`,
      "OOM",
    ],
    [`ERR Error running script (call to f_${sha}): @user_script:1: user text OOM here`, "UNKNOWN"],
  ])("finds the class inside what Redis 6 wraps (%#)", (text, code) => {
    expect(errorFromReply(text)).toMatchObject({ code, detail: text });
  });

  test("takes a refusal without a detail", () => {
    expect(errorFromReply("EMQFULL")).toMatchObject({
      code: "EMQFULL",
      detail: "",
      message: "EMQFULL",
    });
  });
});
