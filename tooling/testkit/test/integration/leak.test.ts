import { createServer } from "node:net";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { LeakCheck, sharedServer, startServer, uniqueQueue } from "../../src/index.js";

test("what a test closes is no leak", async () => {
  await using server = await startServer();
  const check = await LeakCheck.start(server.url);
  const client = new Redis(server.url);
  await client.ping();
  client.disconnect();
  await check.end();
});

test("a connection, a timer and a listening socket left open are named", async () => {
  await using server = await startServer();
  const check = await LeakCheck.start(server.url, { withinMs: 200 });
  const client = new Redis(server.url, { connectionName: "forgotten" });
  await client.ping();
  const timer = setInterval(() => undefined, 60_000);
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const error = await check.end().catch((caught: unknown) => caught);
  clearInterval(timer);
  listener.close();
  client.disconnect();
  expect(String(error)).toMatch(/connection .*name=forgotten/);
  expect(String(error)).toMatch(/timer from .*leak\.test\.ts/);
  expect(String(error)).toMatch(/listening socket from /);
  expect(String(error)).toMatch(/socket from .*ioredis/);
});

test("a timer that does not keep the process alive, or has ended, is no leak", async () => {
  await using server = await startServer();
  const check = await LeakCheck.start(server.url);
  const idle = setInterval(() => undefined, 60_000);
  idle.unref();
  clearInterval(setInterval(() => undefined, 60_000));
  setTimeout(() => undefined, 20);
  await check.end();
  clearInterval(idle);
});

test("a restart of the server is no leak of the check itself", async () => {
  await using server = await startServer();
  const check = await LeakCheck.start(server.url);
  await server.restart();
  await check.end();
});

test("on a shared server a name keeps other connections out", async () => {
  const { url } = await sharedServer("valkey");
  const name = uniqueQueue("lane");
  const check = await LeakCheck.start(url, { name, withinMs: 200 });
  const stranger = new Redis(url, { connectionName: "stranger" });
  await stranger.ping();
  stranger.disconnect();
  const mine = new Redis(url, { connectionName: `${name}-1` });
  await mine.ping();
  await expect(check.end()).rejects.toThrow(name);
  mine.disconnect();
});
