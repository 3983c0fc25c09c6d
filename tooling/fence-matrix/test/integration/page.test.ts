import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Queue } from "@echomq/core";
import { sharedServer, uniqueQueue } from "@echomq/testkit";
import { expect, test } from "vitest";

const PAGE = readFileSync(new URL("../../../../docs/fence.md", import.meta.url), "utf8");
const HERE = fileURLToPath(new URL("..", import.meta.url));

test("docs/fence.md: the guard's program stops on a v2 queue and goes on elsewhere", async () => {
  const [, program = ""] = /```js\n(.*?)```/s.exec(PAGE) ?? [];
  const { url } = await sharedServer("redis");
  await using queue = new Queue(uniqueQueue(), { connection: url });
  await queue.add("first", {});
  const folder = await mkdtemp(join(HERE, "tmp-"));
  try {
    const file = join(folder, "program.mjs");
    await writeFile(file, program.replace('"orders"', "process.env.QUEUE"));
    const refused = await run(file, { REDIS_URL: url, QUEUE: queue.name });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`Queue "${queue.name}" lives on the EchoMQ 2 wire`);
    expect(await run(file, { REDIS_URL: url, QUEUE: uniqueQueue() })).toMatchObject({ code: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

function run(file: string, env: Record<string, string>): Promise<{ code: number; stderr: string }> {
  const args = ["--conditions=@echomq/source", "--import", "tsx", file];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, _, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stderr });
    });
  });
}
