import { isEchoMQError, ServerError, ValidationError, WIRE_CODES, WireError } from "@echomq/wire";
import { describe, expect, test } from "vitest";
import { certainlyNotRun } from "../../src/dispatch/errors.js";
import { DriverFault, typedError } from "../../src/index.js";

const reply = (text: string) => typedError(new DriverFault("reply", text), "op");

describe("typedError", () => {
  test.each(Object.keys(WIRE_CODES))("%s of a reply is a WireError with its detail", (code) => {
    const error = reply(`${code} some detail`);
    expect(error).toMatchObject({
      name: "WireError",
      code,
      detail: "some detail",
      op: "op",
      transient: false,
    });
    expect(isEchoMQError(error, code)).toBe(true);
  });

  test.each([
    ["LOADING Redis is loading the dataset in memory", "LOADING", true],
    ["READONLY You can't write against a read only replica.", "READONLY", true],
    ["CLUSTERDOWN The cluster is down", "CLUSTERDOWN", true],
    ["TRYAGAIN Multiple keys request during rehashing of slot", "TRYAGAIN", true],
    ["MASTERDOWN Link with MASTER is down", "MASTERDOWN", true],
    ["BUSY Redis is busy running a script.", "BUSY", true],
    ["UNBLOCKED client unblocked via CLIENT UNBLOCK", "UNBLOCKED", true],
    ["NOAUTH Authentication required.", "NOAUTH", false],
    ["WRONGPASS invalid username-password pair", "NOAUTH", false],
    ["NOPERM this user has no permissions", "NOPERM", false],
    ["OOM command not allowed when used memory > 'maxmemory'.", "OOM", false],
    ["NOSCRIPT No matching script.", "NOSCRIPT", false],
    ["WRONGTYPE Operation against a key", "WRONGTYPE", false],
    ["ERR unknown command", "UNKNOWN", false],
    ["EMQNEW of a newer minor", "UNKNOWN", false],
    ["", "UNKNOWN", false],
  ] as const)("%s is %s", (text, code, transient) => {
    expect(reply(text)).toMatchObject({ name: "ServerError", code, transient, detail: text });
  });

  test("what a command inside a script raised keeps its class on servers before 7", () => {
    const at = (inner: string) =>
      `ERR Error running script (call to f_${"a".repeat(40)}): @user_script:9: ${inner}`;
    expect(reply(at("-OOM command not allowed")).code).toBe("OOM");
    expect(reply(at("WRONGTYPE Operation")).code).toBe("WRONGTYPE");
    expect(reply(at("@user_script: 9: -READONLY You can't")).code).toBe("READONLY");
  });

  test.each(["connection", "offline", "closed"] as const)(
    "a %s fault is CONNECTION_LOST",
    (kind) => {
      const cause = new DriverFault(kind, "gone");
      const error = typedError(cause, "op");
      expect(error).toMatchObject({
        code: "CONNECTION_LOST",
        transient: true,
        detail: "gone",
        cause,
      });
    },
  );

  test("a fault of another copy of the package is one too", () => {
    const foreign = Object.assign(new Error("OOM x"), { fault: "reply" });
    expect(typedError(foreign, "op").code).toBe("OOM");
  });

  test("what is typed already passes unchanged, anything else is UNKNOWN with its cause", () => {
    const typed = new ValidationError({ option: "a", reason: "b" });
    expect(typedError(typed, "op")).toBe(typed);
    const plain = new Error("boom");
    expect(typedError(plain, "op")).toMatchObject({ code: "UNKNOWN", cause: plain, op: "op" });
    for (const odd of [null, undefined, "text", 7, {}, Object.create(null)]) {
      expect(typedError(odd, "op")).toMatchObject({ code: "UNKNOWN", transient: false });
    }
  });
});

describe("certainlyNotRun", () => {
  test("only a connection lost in flight leaves it open", () => {
    for (const kind of ["reply", "offline", "closed"] as const) {
      expect(certainlyNotRun(new DriverFault(kind, "x"))).toBe(true);
    }
    expect(certainlyNotRun(new DriverFault("connection", "x"))).toBe(false);
    for (const code of ["TIMEOUT", "CONNECTION_LOST"] as const) {
      expect(certainlyNotRun(new ServerError({ code, detail: "x" }))).toBe(false);
    }
    expect(certainlyNotRun(new WireError({ code: "EMQRETRY", detail: "x" }))).toBe(true);
    expect(certainlyNotRun(new Error("x"))).toBe(false);
  });
});
