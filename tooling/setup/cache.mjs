/** The cache folder, talk on stderr, child processes and the lock that keeps two set-ups apart. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A problem of the set-up whose message is the one sentence to show. */
export class SetupError extends Error {
  name = "SetupError";
}

/** Folder for pnpm and private servers: `$ECHOMQ_CACHE`, else the user's cache folder. */
export function cacheDir() {
  if (process.env.ECHOMQ_CACHE) return process.env.ECHOMQ_CACHE;
  if (process.env.XDG_CACHE_HOME) return join(process.env.XDG_CACHE_HOME, "echomq");
  return join(homedir(), ".cache", "echomq");
}

/** Writes one line to stderr, so stdout stays the program's own. */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** Runs a command and resolves to its exit code and output; never rejects on a bad exit. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.on("error", (error) =>
      resolve({ code: 127, stdout, stderr: `${stderr}${error.message}` }),
    );
    child.on("close", (code, signal) => resolve({ code: code ?? 1, signal, stdout, stderr }));
  });
}

/** A name no other process uses, for work that ends in one rename. */
export function scratchName(base) {
  return `${base}.${process.pid}.${randomBytes(4).toString("hex")}`;
}

/** Removes what a killed set-up left under `base`; only while holding the lock that guards it. */
export async function sweepScratch(base) {
  const names = await readdir(dirname(base)).catch(() => []);
  const left = names.filter((name) => name.startsWith(`${basename(base)}.`));
  for (const name of left) await rm(join(dirname(base), name), { recursive: true, force: true });
}

/** Puts a finished folder in place in one step; an older one gives way. */
export async function moveIntoPlace(from, to) {
  await mkdir(dirname(to), { recursive: true });
  const old = scratchName(`${to}.old`);
  await rename(to, old).catch(() => undefined);
  await rename(from, to);
  await rm(old, { recursive: true, force: true });
}

const STALE_MS = 60_000;
const BEAT_MS = 5_000;

/** Runs `work` while no other process holds the lock `name`; a dead holder's lock is taken over. */
export async function withLock(name, work) {
  const folder = join(cacheDir(), "locks");
  await mkdir(folder, { recursive: true });
  const lock = join(folder, name);
  const owner = `${hostname()} ${process.pid} ${randomBytes(8).toString("hex")}`;
  await acquire(lock, owner);
  const beat = setInterval(() => {
    const now = new Date();
    utimes(join(lock, "owner"), now, now).catch(() => undefined);
  }, BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if ((await ownerOf(lock)) === owner) await release(lock);
  }
}

/** Moved aside first: once emptied in place, another's lock could already stand where it is removed. */
async function release(lock) {
  const aside = scratchName(`${lock}.done`);
  await rename(lock, aside);
  await rm(aside, { recursive: true, force: true });
}

async function acquire(lock, owner) {
  let told = false;
  for (;;) {
    const draft = scratchName(lock);
    await mkdir(draft);
    await writeFile(join(draft, "owner"), owner);
    try {
      // A rename onto a folder that is not empty fails, so exactly one process wins.
      await rename(draft, lock);
      return;
    } catch {
      await rm(draft, { recursive: true, force: true });
    }
    if (await takeOver(lock)) continue;
    if (!told) say("waiting for another set-up to finish");
    told = true;
    await sleep(150);
  }
}

async function takeOver(lock) {
  const holder = await ownerOf(lock);
  if (holder === undefined || !(await isStale(lock, holder))) return false;
  const aside = scratchName(`${lock}.stale`);
  const moved = await rename(lock, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return true;
  // Someone may have taken the lock between the look and the rename: give it back then.
  if ((await ownerOf(aside)) !== holder) await rename(aside, lock).catch(() => undefined);
  await rm(aside, { recursive: true, force: true });
  return true;
}

async function isStale(lock, holder) {
  const [host, pid] = holder.split(" ");
  if (host === hostname() && !isAlive(Number(pid))) return true;
  const seen = await stat(join(lock, "owner")).catch(() => undefined);
  return seen !== undefined && Date.now() - seen.mtimeMs > STALE_MS;
}

function ownerOf(lock) {
  return readFile(join(lock, "owner"), "utf8").catch(() => undefined);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
