import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cacheDir, moveIntoPlace } from "../../cache.mjs";

const MODULE = new URL("../../cache.mjs", import.meta.url).href;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "echomq-cache-test-"));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

function start(body: string): ReturnType<typeof spawn> {
  const program = `import { withLock } from ${JSON.stringify(MODULE)};
    import { readFile, writeFile } from "node:fs/promises";
    import { setTimeout as sleep } from "node:timers/promises";
    ${body}`;
  return spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, ECHOMQ_CACHE: dir },
    stdio: "ignore",
  });
}

describe("withLock", () => {
  test("keeps processes apart", async () => {
    const counter = join(dir, "counter");
    await writeFile(counter, "0");
    const body = `for (let i = 0; i < 5; i += 1) await withLock("count", async () => {
      const before = Number(await readFile(${JSON.stringify(counter)}, "utf8"));
      await sleep(5);
      await writeFile(${JSON.stringify(counter)}, String(before + 1));
    });`;
    const ends = [start(body), start(body), start(body)].map((child) => once(child, "exit"));
    expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0, 0]);
    expect(await readFile(counter, "utf8")).toBe("15");
    expect(existsSync(join(dir, "locks", "count"))).toBe(false);
  });

  test("a killed holder's lock is taken over", async () => {
    const held = join(dir, "held");
    const holder = start(
      `await withLock("dead", async () => {
        await writeFile(${JSON.stringify(held)}, "1");
        await sleep(600_000);
      });`,
    );
    while (!existsSync(held)) await sleep(20);
    const ended = once(holder, "exit");
    holder.kill("SIGKILL");
    await ended;
    expect(existsSync(join(dir, "locks", "dead"))).toBe(true);
    const next = start(`await withLock("dead", async () => undefined);`);
    expect((await once(next, "exit"))[0]).toBe(0);
    expect(existsSync(join(dir, "locks", "dead"))).toBe(false);
  });
});

test("an older folder gives way", async () => {
  const { mkdir } = await import("node:fs/promises");
  const [fresh, place] = [join(dir, "fresh"), join(dir, "deep", "place")];
  for (const text of ["one", "two"]) {
    await mkdir(fresh);
    await writeFile(join(fresh, "text"), text);
    await moveIntoPlace(fresh, place);
    expect(await readFile(join(place, "text"), "utf8")).toBe(text);
    expect(existsSync(fresh)).toBe(false);
  }
});

test("the cache folder follows its variables", () => {
  const before = { ...process.env };
  try {
    process.env.ECHOMQ_CACHE = "/a";
    expect(cacheDir()).toBe("/a");
    delete process.env.ECHOMQ_CACHE;
    process.env.XDG_CACHE_HOME = "/b";
    expect(cacheDir()).toBe("/b/echomq");
    delete process.env.XDG_CACHE_HOME;
    expect(cacheDir()).toMatch(/\/\.cache\/echomq$/);
  } finally {
    process.env = before;
  }
});
