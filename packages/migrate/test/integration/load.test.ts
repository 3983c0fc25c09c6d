import { startServer } from "@echomq/testkit";
import { expect, test } from "vitest";
import { startCli } from "../support/cli.js";
import { benchAt } from "../support/servers.js";

const JOBS = 100_000;
const CHUNK = 5_000;
/** The tool's code alone takes about half of it. */
const HEAP_MIB = 64;

test("100 000 small jobs move although the tool has little memory", {
  timeout: 180_000,
}, async () => {
  await using server = await startServer();
  const { client } = await benchAt(server.url);
  await client.hset("bull:load:meta", "version", "bullmq:5.65.1");
  for (let from = 0; from < JOBS; from += CHUNK) {
    const batch = client.pipeline();
    for (let n = from; n < from + CHUNK; n += 1) {
      const fields = { name: "small", data: `{"n":${n}}`, timestamp: "1700000000000" };
      batch.hset(`bull:load:${n}`, fields);
      if (n % 2 === 0) batch.lpush("bull:load:wait", n);
      else batch.zadd("bull:load:completed", n, n);
    }
    await batch.exec();
  }
  const started = performance.now();
  const run = startCli(
    { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
    "run",
    "--json",
    "--url",
    server.url,
    "--queue",
    "load",
  );
  const { status, stdout, stderr } = await run.done;
  const seconds = (performance.now() - started) / 1_000;
  console.info(
    `${JOBS} jobs in ${seconds.toFixed(1)} s with a heap of ${HEAP_MIB} MiB, the start of the tool included`,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const verified = stdout.split("\n").find((line) => line.startsWith('{"phase":"verify"'));
  expect(JSON.parse(verified ?? "{}").jobs).toBe(JOBS);
  expect(await client.llen("emq:{load}:v2:wait")).toBe(JOBS / 2);
});
