import { expect, test } from "vitest";
import { engineOf } from "../../src/connect/engine.js";

test("Redis says its version once", () => {
  const info =
    "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\ngcc_version:12.2.0\r\n";
  expect(engineOf(info)).toEqual({
    name: "redis",
    version: "7.0.15",
    redisVersion: "7.0.15",
    mode: "standalone",
  });
});

test("Valkey says whom it is compatible with", () => {
  const info = "redis_version:7.2.4\nserver_name:valkey\nvalkey_version:8.0.1\nserver_mode:cluster";
  expect(engineOf(info)).toEqual({
    name: "valkey",
    version: "8.0.1",
    redisVersion: "7.2.4",
    mode: "cluster",
  });
});

test("another server is named after its own version", () => {
  const info = "redis_version:7.4.0\ndragonfly_version:df-v1.30\nredis_mode:standalone";
  expect(engineOf(info)).toMatchObject({ name: "dragonfly", version: "df-v1.30" });
});
