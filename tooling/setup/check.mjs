/** `npm run check`: one line per step, output only of what fails. */
import { join } from "node:path";
import { run, SetupError } from "./cache.mjs";
import { onInterrupt } from "./interrupt.mjs";
import { toolEnv } from "./pnpm.mjs";
import { SOURCE_FLAGS } from "./target.mjs";

const node = (...args) => [process.execPath, ...args];
const source = (...args) => node(...SOURCE_FLAGS, ...args);
const setup = (name) => join("tooling", "setup", name);
const oldTsc = join("node_modules", "typescript59", "bin", "tsc");

// They look at what the build left.
const NEEDS = { api: "build", pack: "build" };

// Run by name only.
const OPTIONAL = ["unused"];

function steps({ update }) {
  return {
    types: ["tsc", "-p", "tsconfig.json", "--noEmit"],
    "test types": ["tsc", "-p", "tsconfig.test.json", "--noEmit"],
    "types on 5.9": node(oldTsc, "-p", "tsconfig.json", "--noEmit"),
    lint: ["biome", "check", "--error-on-warnings", "."],
    layers: ["depcruise", "--config", ".dependency-cruiser.mjs", "packages", "apps", "tooling"],
    sizes: node(setup("sizes.mjs")),
    unused: ["knip", "--no-progress"],
    generated: source(join("tooling", "gen", "src", "main.ts"), "--check"),
    "unit tests": node(setup("unit.mjs")),
    build: ["pnpm", "-r", "--filter", "./packages/*", "run", "build"],
    api: node(setup("api.mjs"), ...(update ? ["--update"] : [])),
    pack: source(setup("pack.mjs")),
    "lua lint": source(join("tooling", "lua-lint", "src", "main.ts")),
  };
}

/** Runs the named steps, or all; fails where any fails. */
export async function check(root, names, options = {}) {
  const all = steps(options);
  const unknown = names.find((name) => !Object.hasOwn(all, name));
  if (unknown) {
    throw new SetupError(`There is no step "${unknown}"; steps: ${Object.keys(all).join(", ")}.`);
  }
  const stop = new AbortController();
  const hush = onInterrupt((signal) => stop.abort(signal));
  const env = { ...toolEnv(root), NO_COLOR: "1", CI: "true" };
  delete env.FORCE_COLOR;
  const failed = [];
  const standard = Object.keys(all).filter((name) => !OPTIONAL.includes(name));
  for (const name of names.length > 0 ? names : standard) {
    if (failed.includes(NEEDS[name])) {
      failed.push(name);
      process.stdout.write(`${name.padEnd(14)} failed: needs ${NEEDS[name]}\n`);
      continue;
    }
    const started = performance.now();
    const [command, ...args] = all[name];
    const out = await run(command, args, { cwd: root, env, signal: stop.signal });
    if (stop.signal.aborted) {
      hush();
      return { code: 1, signal: stop.signal.reason };
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const ok = out.code === 0;
    process.stdout.write(
      `${name.padEnd(14)} ${ok ? "ok    " : "failed"} ${seconds.padStart(6)} s\n`,
    );
    if (ok) continue;
    failed.push(name);
    process.stdout.write(`${`${out.stdout}${out.stderr}`.trim().replace(/^/gm, "  ")}\n`);
  }
  hush();
  process.stdout.write(failed.length === 0 ? "all steps ok\n" : `failed: ${failed.join(", ")}\n`);
  return { code: failed.length === 0 ? 0 : 1 };
}
