/** Packs every package and looks at the tarballs as their users will: types, exports, a real program. */
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "../testkit/src/index.ts";
import { run } from "./cache.mjs";
import { consumerTypes } from "./consumer-types.mjs";
import { packages } from "./packages.mjs";
import { valueExports } from "./value-exports.mjs";

const CONSUMER = resolve("fixtures", "consumers", "esm");
const PROGRAMS = resolve("fixtures", "consumers", "types");
const PURE = ["@echomq/wire", "@echomq/ext-id"];
const problems = [];
const dir = await mkdtemp(join(tmpdir(), "echomq-pack-"));
try {
  const tarballs = await pack(join(dir, "tarballs"));
  for (const tarball of tarballs) {
    await tool("publint", ["run", tarball, "--strict"]);
    await tool("attw", [tarball, "--profile", "esm-only", "--no-definitely-typed", "--no-color"]);
  }
  if (problems.length === 0) await consume(join(dir, "consumer"), tarballs);
} finally {
  await rm(dir, { recursive: true, force: true });
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function pack(into) {
  await mkdir(into);
  for (const { folder } of await packages()) {
    await tool("pnpm", ["pack", "--pack-destination", into], { cwd: folder });
  }
  return (await readdir(into)).map((name) => join(into, name));
}

async function consume(folder, tarballs) {
  await cp(CONSUMER, folder, { recursive: true });
  const names = (await packages()).map(({ name }) => name);
  const peers = [await peer("scripts", "ioredis"), await peer("core", "@opentelemetry/api")];
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--save-exact"];
  const installed = await tool("npm", [...args, ...tarballs, ...peers], {
    cwd: folder,
  });
  if (!installed) return;
  await compareExports(folder, names);
  await compilePrograms(folder);
  const server = await startServer();
  try {
    const env = { ...process.env, REDIS_URL: server.url };
    await tool(process.execPath, ["main.mjs"], { cwd: folder, env });
  } finally {
    await server.stop();
  }
}

/** The programs of users, and what each package tests of its own types. */
async function compilePrograms(folder) {
  const types = join(folder, "types");
  await cp(PROGRAMS, types, { recursive: true });
  for (const { folder: from, name } of await packages()) {
    const tests = join(from, "test", "types");
    if (existsSync(tests)) await cp(tests, join(types, name), { recursive: true });
  }
  problems.push(...(await consumerTypes(folder)));
}

async function compareExports(folder, names) {
  await writeFile(join(folder, "names.json"), JSON.stringify(names));
  const out = await run(process.execPath, ["exports.mjs"], { cwd: folder });
  if (out.code !== 0) {
    problems.push(`exports.mjs failed: ${out.stdout}${out.stderr}`);
    return;
  }
  const atRunTime = JSON.parse(out.stdout);
  const entries = Object.keys(atRunTime);
  // The pure packages run in a browser too, so their types must do without Node's.
  const pure = valueExports(folder, entries.filter(isPure), { nodeTypes: false });
  const others = valueExports(
    folder,
    entries.filter((entry) => !isPure(entry)),
    { nodeTypes: true },
  );
  problems.push(...pure.problems, ...others.problems);
  const typed = { ...pure.exports, ...others.exports };
  for (const [entry, keys] of Object.entries(atRunTime)) {
    const only = (a, b) => a.filter((key) => !b.includes(key));
    const types = typed[entry] ?? [];
    for (const key of only(types, keys)) problems.push(`${entry}: ${key} has a type but no value`);
    for (const key of only(keys, types)) problems.push(`${entry}: ${key} has a value but no type`);
  }
}

function isPure(entry) {
  return PURE.some((name) => entry === name || entry.startsWith(`${name}/`));
}

/** A peer that entry points need, in the version that is tested. */
async function peer(folder, name) {
  const file = join("packages", folder, "node_modules", name, "package.json");
  return `${name}@${JSON.parse(await readFile(file, "utf8")).version}`;
}

async function tool(command, args, options = {}) {
  const out = await run(command, args, options);
  if (out.code === 0) return true;
  problems.push(`${command} ${args.join(" ")}\n${out.stdout}${out.stderr}`);
  return false;
}
