import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sharedServer } from "@echomq/testkit";
import { expect, test } from "vitest";

const root = new URL("../../../../", import.meta.url);
const ADDRESS = '"redis://127.0.0.1:6379"';

/** The one block of the README that is marked as an example. */
function example(): string {
  const text = readFileSync(new URL("README.md", root), "utf8");
  return /<!-- example: readme -->\n```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
}

test("the example of the README runs as it stands", async () => {
  const code = example();
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(22);
  expect(code).toContain(ADDRESS);
  const { url } = await sharedServer("redis");
  const queue = `readme-${process.pid}`;
  // Its own folder, so that the package finds itself by name.
  const file = fileURLToPath(new URL(`../readme-${process.pid}.example.ts`, import.meta.url));
  const end = `
worker.once("completed", async () => {
  await worker.close();
  await queue.close();
});
`;
  writeFileSync(
    file,
    code.replace(ADDRESS, JSON.stringify(url)).replaceAll('"mails"', `"${queue}"`) + end,
  );
  try {
    const child = spawn(
      process.execPath,
      ["--conditions=@echomq/source", "--import", "tsx", file],
      { cwd: fileURLToPath(root), stdio: ["ignore", "pipe", "pipe"] },
    );
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      out += chunk;
    });
    // It ends by itself: nothing of it keeps the process alive.
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(out).toContain("mail to ada@example.org");
    expect(out).toMatch(/\d+ \{ sent: true \}/);
    expect(code).toBe(0);
  } finally {
    rmSync(file, { force: true });
  }
});
