import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../../..");
const PACKAGES = ["wire", "ext-id", "scripts", "core", "migrate"];
const PLACES: [string, string][] = [
  ...PACKAGES.map((name): [string, string] => [name, `packages/${name}`]),
  ["testkit", "tooling/testkit"],
];
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "echomq-layers-"));
  for (const [name, folder] of PLACES) {
    const exports = { ".": { "@echomq/source": "./src/index.ts" } };
    const manifest = { name: `@echomq/${name}`, exports };
    await put(`${folder}/package.json`, JSON.stringify(manifest));
    await put(`${folder}/src/index.ts`, "export const x = 1;\n");
    await put(`${folder}/src/deep.ts`, "export const y = 1;\n");
    await mkdir(join(dir, "node_modules/@echomq"), { recursive: true });
    await symlink(`../../${folder}`, join(dir, "node_modules/@echomq", name));
  }
  await put("apps/demo/src/main.ts", "export const x = 1;\n");
  await put("tsconfig.json", '{ "compilerOptions": { "module": "NodeNext" } }');
  await symlink(join(ROOT, "node_modules/typescript"), join(dir, "node_modules/typescript"));
  await cp(join(ROOT, ".dependency-cruiser.mjs"), join(dir, ".dependency-cruiser.mjs"));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
}

function cruise(): Promise<string> {
  const program = join(ROOT, "node_modules/.bin/depcruise");
  const args = ["--config", ".dependency-cruiser.mjs", "packages", "apps", "tooling"];
  return new Promise((done) => {
    execFile(program, args, { cwd: dir }, (_, stdout, stderr) => done(`${stdout}${stderr}`));
  });
}

test("imports down the floors are fine, each other way is named", async () => {
  await put("packages/scripts/src/index.ts", 'export { x } from "@echomq/wire";\n');
  await put("packages/core/src/index.ts", 'export { x } from "@echomq/scripts";\n');
  await put("packages/migrate/src/index.ts", 'export { x } from "@echomq/wire";\n');
  await put("packages/core/test/a.ts", 'export { x } from "@echomq/testkit";\n');
  expect(await cruise()).toContain("no dependency violations found");

  await put("packages/core/src/a.ts", 'export { x } from "@echomq/testkit";\n');
  await put("packages/wire/src/index.ts", 'import "node:fs";\nexport const x = 1;\n');
  await put("packages/ext-id/src/index.ts", 'export { x } from "@echomq/wire";\n');
  await put("packages/scripts/src/index.ts", 'export { x } from "@echomq/core";\n');
  await put("packages/core/src/index.ts", 'export { y } from "../../wire/src/deep.js";\n');
  await put("packages/migrate/src/index.ts", 'export { x } from "@echomq/core";\n');
  await put("packages/migrate/src/a.ts", 'export { b } from "./b.js";\n');
  await put(
    "packages/migrate/src/b.ts",
    'import type { b as c } from "./a.js";\nexport const b: typeof c = 1;\n',
  );
  await put("packages/migrate/src/c.ts", 'export { x } from "../../../apps/demo/src/main.js";\n');
  const wrong = await cruise();
  for (const line of [
    "pure-wire: packages/wire/src/index.ts → fs",
    "pure-ext-id: packages/ext-id/src/index.ts",
    "floor-scripts: packages/scripts/src/index.ts",
    "floor-migrate: packages/migrate/src/index.ts",
    "floor-core: packages/core/src/a.ts → tooling/testkit/src/index.ts",
    "no-deep-import: packages/core/src/index.ts",
    "no-path-to-another-package: packages/core/src/index.ts",
    "no-circular: packages/migrate/src/",
    "apps-stand-alone: packages/migrate/src/c.ts",
  ]) {
    expect(wrong).toContain(line);
  }
});
