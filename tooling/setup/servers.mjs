/** Finds redis-server and valkey-server, or puts private ones into the cache folder. */
import { constants } from "node:fs";
import { access, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { hasApt, privateApt, unpack } from "./apt.mjs";
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

/** The engines the tests run on, and where each comes from. */
export const ENGINES = {
  redis: {
    title: "Redis",
    oldest: "7.0",
    binary: "redis-server",
    multicall: "redis-check-rdb",
    package: "redis-tools",
    variable: "ECHOMQ_REDIS_SERVER",
  },
  valkey: {
    title: "Valkey",
    oldest: "7.2",
    binary: "valkey-server",
    multicall: "valkey-check-rdb",
    package: "valkey-tools",
    variable: "ECHOMQ_VALKEY_SERVER",
  },
};

/** The server of an engine as `{ command, env, version }`, or `undefined` where there is none. */
export async function findServer(engine) {
  const spec = ENGINES[engine];
  const named = process.env[spec.variable];
  if (named) {
    const found = await probe(engine, named, {});
    if (!found) throw new SetupError(`${spec.variable} is ${named}, which is no ${atLeast(spec)}.`);
    return found;
  }
  const path = await onPath(spec.binary);
  const installed = path === undefined ? undefined : await probe(engine, path, {});
  return installed ?? (await fromCache(engine));
}

/** Makes sure the engines' servers exist, downloading private ones where apt can. */
export async function ensureServers(engines) {
  const missing = await without(engines);
  if (missing.length === 0) return;
  try {
    await withLock("servers", async () => {
      const still = await without(missing);
      if (still.length > 0) await install(still);
    });
  } catch (error) {
    // The test kit runs servers in containers then.
    if (!(error instanceof SetupError) || !(await dockerAnswers())) throw error;
    say(`${error.message} Until then servers run in containers.`);
  }
}

async function dockerAnswers() {
  if (process.env.ECHOMQ_CONTAINERS === "off") return false;
  const { code } = await run("docker", ["version", "--format", "{{.Server.Version}}"]);
  return code === 0;
}

/** The sentence that tells what to install for an engine. */
export function installAdvice(engine) {
  const spec = ENGINES[engine];
  return `Install ${atLeast(spec)} so that ${spec.binary} is on PATH, or set ${spec.variable} to its path.`;
}

function atLeast(spec) {
  return `${spec.title} ${spec.oldest} or newer`;
}

async function without(engines) {
  const found = await Promise.all(engines.map((engine) => findServer(engine)));
  return engines.filter((_, index) => found[index] === undefined);
}

async function install(engines) {
  const names = engines.map((engine) => ENGINES[engine].binary).join(" and ");
  if (!(await hasApt())) throw new SetupError(engines.map(installAdvice).join(" "));
  say(`downloading private ${names}`);
  const base = join(cacheDir(), "apt");
  await sweepScratch(base);
  const scratch = scratchName(base);
  const problems = [];
  try {
    await mkdir(scratch, { recursive: true });
    const apt = lazy(() => privateApt(scratch));
    for (const engine of engines) {
      await installOne(apt, engine, join(scratch, engine)).catch((error) => {
        if (!(error instanceof SetupError)) throw error;
        problems.push(`${installAdvice(engine)} (${error.message})`);
      });
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  if (problems.length > 0) throw new SetupError(problems.join("\n"));
}

function lazy(make) {
  let made;
  return () => {
    made ??= make();
    return made;
  };
}

async function installOne(apt, engine, root) {
  const found =
    (await unpackServer(apt, engine, root, false)) ?? (await unpackServer(apt, engine, root, true));
  if (!found)
    throw new SetupError(`the packaged ${ENGINES[engine].binary} does not run or is too old`);
  await moveIntoPlace(root, home(engine));
  say(`${ENGINES[engine].binary} ${found.version} is in ${home(engine)}`);
}

async function unpackServer(apt, engine, root, deep) {
  const spec = ENGINES[engine];
  await unpack(await apt(), spec.package, root, deep);
  // The package ships the whole server under the name of the checker; the name decides what runs.
  await rm(join(root, "usr", "bin", spec.binary), { force: true });
  await symlink(spec.multicall, join(root, "usr", "bin", spec.binary));
  const libraries = await libraryFolders(root);
  const found = await probe(
    engine,
    join(root, "usr", "bin", spec.binary),
    libraryEnv(root, libraries),
  );
  if (!found) return undefined;
  await writeFile(join(root, "server.json"), JSON.stringify({ version: found.version, libraries }));
  return found;
}

async function libraryFolders(root) {
  const base = join("usr", "lib");
  const entries = await readdir(join(root, base), { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(base, entry.name));
  return [...folders, base];
}

function libraryEnv(root, libraries) {
  const folders = libraries.map((folder) => join(root, folder));
  const inherited = process.env.LD_LIBRARY_PATH;
  return { LD_LIBRARY_PATH: [...folders, ...(inherited ? [inherited] : [])].join(delimiter) };
}

async function fromCache(engine) {
  const root = home(engine);
  const text = await readFile(join(root, "server.json"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const { version, libraries } = JSON.parse(text);
  const command = join(root, "usr", "bin", ENGINES[engine].binary);
  return { command, env: libraryEnv(root, libraries), version };
}

function home(engine) {
  return join(cacheDir(), "servers", engine);
}

async function onPath(binary) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    if (folder === "") continue;
    const candidate = join(folder, binary);
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return candidate;
  }
  return undefined;
}

async function probe(engine, command, env) {
  const out = await run(command, ["--version"], { env: { ...process.env, ...env } });
  const match = /^(\w+) server v=(\d+)\.(\d+\.\d+)/im.exec(out.stdout);
  // Some systems answer to the name redis-server with a Valkey: the title tells them apart.
  if (out.code !== 0 || !match || match[1].toLowerCase() !== engine) return undefined;
  if (Number(match[2]) < Number.parseInt(ENGINES[engine].oldest, 10)) return undefined;
  return { command, env, version: `${match[2]}.${match[3]}` };
}
