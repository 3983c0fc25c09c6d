import { describe, expect, test } from "vitest";
import { checkConnection, urlOf } from "../../src/connection/address.js";

describe("an address", () => {
  test.each([
    [{ host: "h" }, "redis://h:6379/0"],
    [{ host: "h", port: 1, db: 3, tls: true }, "rediss://h:1/3"],
    [{ host: "::1" }, "redis://[::1]:6379/0"],
    [{ host: "h", password: "a:b@c/d#e?" }, "redis://:a%3Ab%40c%2Fd%23e%3F@h:6379/0"],
    [{ host: "h", username: "ü", password: "" }, "redis://%C3%BC:@h:6379/0"],
  ])("%j is %s", (address, url) => {
    checkConnection(address);
    expect(urlOf(address)).toBe(url);
    const read = new URL(url);
    expect(decodeURIComponent(read.password)).toBe("password" in address ? address.password : "");
  });

  test.each([
    "redis://h",
    "redis://h:1/0",
    "rediss://u:p@h:1/15",
    "redis://[::1]:6379",
    "redis://h/",
  ])("the URL %s is taken", (url) => {
    expect(() => checkConnection(url)).not.toThrow();
  });

  test("a password is never shown", () => {
    for (const address of [
      { host: "h h", password: "secret" },
      { host: "h", password: 5, username: "u" },
    ]) {
      expect(() => checkConnection(address)).toThrow(/^(?!.*secret).*$/);
    }
  });
});
