import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { dumpAll, sharedServer, uniqueQueue } from "../../src/index.js";

test("a dump sees every change of content, type and expiry, and nothing else", async () => {
  const { url } = await sharedServer("redis");
  const client = new Redis(url);
  const prefix = uniqueQueue("dump");
  await client.set(`${prefix}:text`, "1", "PX", 600_000);
  await client.rpush(`${prefix}:list`, "a", "b");
  await client.set(Buffer.concat([Buffer.from(`${prefix}:`), Buffer.from([255])]), "1");
  const before = await dumpAll(url, `${prefix}:*`);
  expect([...before.values()].map((key) => key.type).sort()).toEqual(["list", "string", "string"]);
  expect(before.get(`${prefix}:list`)?.ttl).toBe(-1);
  expect(await dumpAll(client, `${prefix}:*`)).toEqual(before);
  await client.pexpireat(`${prefix}:text`, Date.now() + 900_000);
  expect(await dumpAll(client, `${prefix}:*`)).not.toEqual(before);
  const between = await dumpAll(client, `${prefix}:*`);
  await client.lset(`${prefix}:list`, 0, "c");
  expect(await dumpAll(client, `${prefix}:*`)).not.toEqual(between);
  client.disconnect();
});
