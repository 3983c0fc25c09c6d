/** Puts pnpm into the cache folder and the workspace's packages into node_modules. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import {
  cacheDir,
  moveIntoPlace,
  run,
  SetupError,
  say,
  scratchName,
  sweepScratch,
  withLock,
} from "./cache.mjs";

const FOLDERS = ["packages", "apps", "tooling"];

/** Environment in which `pnpm` and the workspace's programs are on PATH. */
export function toolEnv(root) {
  const bins = [
    join(cacheDir(), "pnpm", "node_modules", ".bin"),
    join(root, "node_modules", ".bin"),
  ];
  return { ...process.env, PATH: [...bins, process.env.PATH ?? ""].join(delimiter) };
}

/** Installs pnpm and the workspace where they are missing or out of date; else does nothing. */
export async function ensureWorkspace(root) {
  const version = await pnpmVersion(root);
  if (await isInstalled(root, version)) return;
  const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
  await withLock(`workspace-${name}`, async () => {
    if (await isInstalled(root, version)) return;
    await ensurePnpm(version);
    await install(root);
  });
}

async function isInstalled(root, version) {
  const stamp = await readFile(stampFile(root), "utf8").catch(() => undefined);
  return stamp === (await manifestHash(root)) && (await cachedVersion()) === version;
}

async function ensurePnpm(version) {
  await withLock("pnpm", async () => {
    if ((await cachedVersion()) === version) return;
    say(`installing pnpm ${version} into ${cacheDir()}`);
    const base = join(cacheDir(), "pnpm.new");
    await sweepScratch(base);
    const scratch = scratchName(base);
    try {
      await mkdir(scratch, { recursive: true });
      const args = ["install", "--prefix", scratch, "--no-save", "--no-audit", "--no-fund"];
      const out = await run("npm", [...args, `pnpm@${version}`], { cwd: scratch });
      if (out.code !== 0) throw new SetupError(`npm could not install pnpm: ${tail(out)}`);
      await moveIntoPlace(scratch, join(cacheDir(), "pnpm"));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
}

async function install(root) {
  say("installing the workspace's packages");
  const options = { cwd: root, env: { ...toolEnv(root), CI: "true", NO_COLOR: "1" } };
  const out = await run("pnpm", ["install", "--frozen-lockfile"], options);
  if (out.code !== 0) throw new SetupError(`pnpm install failed: ${tail(out)}`);
  await writeFile(stampFile(root), await manifestHash(root));
}

function stampFile(root) {
  return join(root, "node_modules", ".echomq-stamp");
}

/** Hash over everything an install depends on. */
async function manifestHash(root) {
  const files = ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"];
  for (const folder of FOLDERS) {
    const names = await readdir(join(root, folder)).catch(() => []);
    for (const name of names.sort()) files.push(join(folder, name, "package.json"));
  }
  const hash = createHash("sha256");
  for (const file of files) {
    if (!existsSync(join(root, file))) continue;
    hash
      .update(`${file}\0`)
      .update(await readFile(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

async function pnpmVersion(root) {
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return manifest.packageManager.replace(/^pnpm@/, "");
}

async function cachedVersion() {
  const file = join(cacheDir(), "pnpm", "node_modules", "pnpm", "package.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text).version;
}

function tail(out) {
  return `${out.stdout}\n${out.stderr}`.trim().split("\n").slice(-12).join("\n");
}
