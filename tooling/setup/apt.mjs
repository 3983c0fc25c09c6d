/** Downloads Debian packages into a folder, as any user, without touching the system's own apt. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run, SetupError } from "./cache.mjs";

/** True where apt and dpkg can be used. */
export async function hasApt() {
  const [apt, dpkg] = await Promise.all([
    run("apt-get", ["--version"]),
    run("dpkg-deb", ["--version"]),
  ]);
  return apt.code === 0 && dpkg.code === 0;
}

/** A private apt under `folder` that knows the distribution's own suite and its backports. */
export async function privateApt(folder) {
  const parts = join(folder, "parts");
  const lists = join(folder, "lists");
  const cache = join(folder, "cache");
  await mkdir(parts, { recursive: true });
  await mkdir(join(lists, "partial"), { recursive: true });
  await mkdir(join(cache, "archives", "partial"), { recursive: true });
  const state = [`Dir::State::Lists=${lists}`, `Dir::Cache=${cache}`];
  await writeFile(join(parts, "distribution.sources"), await stanzas(state));
  const own = ["Dir::Etc::SourceList=/dev/null", `Dir::Etc::SourceParts=${parts}`, ...state];
  // A suite the mirror does not carry makes update fail; what was fetched still serves.
  await run("apt-get", [...flags(own), "update"]);
  return { folder, own };
}

/**
 * Downloads a package and the libraries it needs that this system lacks, and unpacks them.
 * With `deep`, also the libraries those need.
 */
export async function unpack(apt, name, into, deep) {
  const wanted = [name, ...(await missingLibraries(apt, name, deep))];
  const debs = join(apt.folder, `debs-${name}`);
  await mkdir(debs, { recursive: true });
  await mkdir(into, { recursive: true });
  for (const item of wanted) {
    const got = await download(apt, item, debs);
    if (got.code !== 0) {
      throw new SetupError(`apt could not download ${item}: ${lastLine(got.stderr)}`);
    }
  }
  for (const file of await readdir(debs)) {
    if (!file.endsWith(".deb")) continue;
    const out = await run("dpkg-deb", ["-x", join(debs, file), into]);
    if (out.code !== 0) throw new SetupError(`dpkg-deb could not unpack ${file}: ${out.stderr}`);
  }
}

function download(apt, name, cwd) {
  // Without the sandbox user, a folder only this user can read is enough.
  const flagsHere = flags([...apt.own, "APT::Sandbox::User="]);
  return run("apt-get", [...flagsHere, "download", name], { cwd });
}

async function missingLibraries(apt, name, deep) {
  const only = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"];
  const out = await run("apt-cache", [
    ...flags(apt.own),
    "depends",
    ...(deep ? ["--recurse"] : []),
    ...only.map((kind) => `--no-${kind}`),
    name,
  ]);
  const names = out.stdout.match(/(?<=^(?: {2}Depends: )?)lib[a-z0-9.+-]+$/gm) ?? [];
  const present = await installedPackages();
  return [...new Set(names)].filter((library) => !present.has(library));
}

async function installedPackages() {
  const format = ["$", "{Package} $", "{db:Status-Status}\n"].join("");
  const out = await run("dpkg-query", ["-W", "-f", format]);
  const lines = out.stdout.split("\n").map((line) => line.split(" "));
  // The C library of another version would break every program around it.
  return new Set([
    "libc6",
    ...lines.filter(([, state]) => state === "installed").map(([name]) => name),
  ]);
}

async function stanzas(state) {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const codename = /^VERSION_CODENAME=(.+)$/m.exec(release)?.[1]?.replaceAll('"', "");
  if (!codename) throw new SetupError("/etc/os-release does not name the distribution's suite");
  let rows = await targets([], codename);
  if (rows.length === 0) {
    // A fresh image has no lists, and without lists apt names no targets.
    await run("apt-get", [...flags(state), "update"]);
    rows = await targets(state, codename);
  }
  if (rows.length === 0) throw new SetupError(`apt has no source for the suite ${codename}`);
  const uri = rows[0].uri;
  const components = [
    ...new Set(rows.filter((row) => row.uri === uri).map((row) => row.component)),
  ];
  const base = [`Types: deb`, `URIs: ${uri}`, `Components: ${components.join(" ")}`];
  const key = await signedBy(rows[0].entry);
  if (key) base.push(`Signed-By: ${key}`);
  return [codename, `${codename}-updates`, `${codename}-backports`]
    .map((suite) => `${[...base, `Suites: ${suite}`].join("\n")}\n`)
    .join("\n");
}

async function targets(options, codename) {
  const fields = ["CREATED_BY", "REPO_URI", "RELEASE", "COMPONENT", "SOURCESENTRY"];
  const format = fields.map((field) => `$(${field})`).join("|");
  const out = await run("apt-get", [...flags(options), "indextargets", "--format", format]);
  return out.stdout
    .split("\n")
    .map((line) => line.split("|"))
    .filter(([by, , release]) => by === "Packages" && release === codename)
    .map(([, uri, , component, entry]) => ({ uri, component, entry }));
}

async function signedBy(entry) {
  const file = entry.slice(0, entry.lastIndexOf(":"));
  const text = await readFile(file, "utf8").catch(() => "");
  const path =
    /^Signed-By:\s*(\/\S+)/im.exec(text)?.[1] ?? /signed-by=(\/[^\s\]]+)/.exec(text)?.[1];
  return path;
}

function flags(options) {
  return options.flatMap((option) => ["-o", option]);
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
