/** One API report per entry point in `packages/<p>/etc`; `--update` writes them, else they must fit. */
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";
import { entryPoints, packages } from "./packages.mjs";

const update = process.argv.includes("--update");
const QUIET = { logLevel: "none" };
const ERROR = { logLevel: "error" };

let failed = 0;
for (const { folder, manifest } of await packages()) {
  const etc = resolve(folder, "etc");
  await mkdir(etc, { recursive: true });
  const expected = new Set();
  for (const { path, types } of entryPoints(manifest)) {
    const report = `${path === "." ? "index" : basename(path)}.api.md`;
    expected.add(report);
    if (!existsSync(join(folder, types))) {
      failed += 1;
      process.stdout.write(`${join(folder, types)} is missing; run: pnpm build\n`);
      continue;
    }
    if (!extract(resolve(folder), resolve(folder, types), report)) {
      failed += 1;
      process.stdout.write(`${join(folder, "etc", report)} does not fit; run: pnpm api\n`);
    }
  }
  for (const file of await readdir(etc)) {
    if (!file.endsWith(".api.md") || expected.has(file)) continue;
    if (update) await rm(join(etc, file));
    else {
      failed += 1;
      process.stdout.write(`${join(folder, "etc", file)} belongs to no entry point\n`);
    }
  }
}
process.exitCode = failed === 0 ? 0 : 1;

function extract(folder, types, report) {
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, "package.json"),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: types,
      compiler: { overrideTsconfig: tsconfig(types) },
      apiReport: {
        enabled: true,
        reportFolder: join(folder, "etc"),
        reportTempFolder: join(folder, "temp"),
        reportFileName: report,
      },
      docModel: { enabled: false, projectFolderUrl: "" },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: "lf",
      messages: {
        compilerMessageReporting: { default: ERROR },
        extractorMessageReporting: { default: QUIET },
        tsdocMessageReporting: { default: QUIET },
      },
    },
  });
  const result = Extractor.invoke(config, {
    localBuild: update,
    messageCallback: (message) => {
      // Its advice on stale reports names a way to update that is not this project's.
      if (message.messageId.startsWith("console-")) message.handled = true;
    },
  });
  return result.succeeded && (update || !result.apiReportChanged);
}

/** As a consumer sees the package: siblings resolve to their built types, not to sources. */
function tsconfig(types) {
  return {
    compilerOptions: {
      target: "ES2023",
      lib: ["ES2023", "ESNext.Disposable"],
      module: "NodeNext",
      moduleResolution: "NodeNext",
      customConditions: [],
      types: ["node"],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
    },
    files: [types],
  };
}
