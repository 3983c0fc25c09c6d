/** What each target needs and what it runs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SetupError, say } from "./cache.mjs";
import { ensureWorkspace } from "./pnpm.mjs";
import { ensureServers } from "./servers.mjs";
import { foreground, SOURCE_FLAGS } from "./target.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const BOTH = ["redis", "valkey"];

const TARGETS = {
  demo: {
    engines: (args) => (ownServer(args) ? [] : ["redis"]),
    start: (args) => app("demo", args),
  },
  conformance: {
    engines: (args) => (args[0] === "acl" || ownServer(args) ? [] : ["redis"]),
    start: (args) => app("conformance", args),
  },
  bench: {
    engines: (args) => (args.includes("--help") || args.includes("-h") ? [] : ["redis"]),
    start: (args) => program(join("tooling", "bench"), args),
  },
  soak: {
    engines: (args) => (args.includes("--help") || args.includes("-h") ? [] : [engineOf(args)]),
    start: (args) => program(join("tooling", "soak"), args),
  },
  test: {
    engines: () => BOTH,
    start: async (args) => (await import("./test.mjs")).test(ROOT, args),
  },
  check: {
    engines: () => BOTH,
    start: async (args) => (await import("./check.mjs")).check(ROOT, args),
  },
  api: {
    engines: () => [],
    start: async () =>
      (await import("./check.mjs")).check(ROOT, ["build", "api"], { update: true }),
  },
  servers: { engines: () => BOTH, start: async () => ({ code: 0 }) },
};

/** Sets up what the target needs, runs it, and ends as it ended. */
export async function main([name, ...args]) {
  const target = Object.hasOwn(TARGETS, name ?? "") ? TARGETS[name] : undefined;
  if (!target) {
    say(`usage: node tooling/setup/run.mjs <${Object.keys(TARGETS).join("|")}> [arguments]`);
    process.exitCode = 1;
    return;
  }
  // A reader that stops early, such as `head`, is no failure.
  process.stdout.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
  });
  try {
    process.chdir(ROOT);
    await ensureWorkspace(ROOT);
    await ensureServers(target.engines(args));
    end(await target.start(args));
  } catch (error) {
    say(error instanceof SetupError ? error.message : String(error?.stack ?? error));
    if (name === "test") process.stdout.write("0 passed, 1 failed\n");
    process.exitCode = 1;
  }
}

function end({ code, signal }) {
  process.exitCode = code;
  if (signal) process.kill(process.pid, signal);
}

function app(name, args) {
  return program(join("apps", name), args);
}

function program(folder, args) {
  const file = join(folder, "src", "main.ts");
  if (!existsSync(join(ROOT, file))) throw new SetupError(`${file} does not exist.`);
  return foreground(ROOT, [...SOURCE_FLAGS, join(ROOT, file), ...args]);
}

/** The engine that arguments ask for; a wrong one is the program's to refuse. */
function engineOf(args) {
  const asked = args.includes("valkey") || args.includes("--engine=valkey");
  return asked ? "valkey" : "redis";
}

function ownServer(args) {
  const given = args.some((arg) => arg === "--url" || arg.startsWith("--url="));
  return given || Boolean(process.env.ECHOMQ_REDIS_URL);
}
