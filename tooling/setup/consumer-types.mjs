/** Compiles programs of users against the packed types, by the oldest and the newest compiler. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import newest from "typescript";
import oldest from "typescript59";

const COMPILERS = [oldest, newest];
const CLIENTS = ["ioredis", "redis", "@redis", "@opentelemetry"].map(
  (name) => `${sep}node_modules${sep}${name}${sep}`,
);

/** What is wrong, as lines; `folder` has the packages installed and the programs in `types`. */
export async function consumerTypes(folder) {
  const types = join(folder, "types");
  const wrong = join(types, "wrong.mts");
  const entries = await readdir(types, { recursive: true });
  const files = entries.filter((name) => /\.m?ts$/.test(name)).map((name) => join(types, name));
  const programs = files.filter((file) => file !== wrong);
  const problems = [];
  for (const ts of COMPILERS) {
    const said = (text) => problems.push(`typescript ${ts.version}: ${text}`);
    const strict = compile(ts, folder, programs, { exactOptionalPropertyTypes: true });
    for (const { text } of strict.errors) said(text);
    for (const client of strict.files.filter(isClient)) said(`the types need ${client}`);
    // As a bundler's template has it.
    const bundled = compile(ts, folder, [join(types, "main.mts")], {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
      skipLibCheck: true,
    });
    for (const { text } of bundled.errors) said(text);
    for (const text of await missed(compile(ts, folder, [wrong], {}), wrong)) said(text);
  }
  return problems;
}

/** Lines of the wrong program that were not refused as they say. */
async function missed({ errors }, file) {
  const lines = (await readFile(file, "utf8")).split("\n");
  return lines.flatMap((line, at) => {
    const expected = line.split("// says: ")[1];
    if (expected === undefined) return [];
    const given = errors.filter((error) => error.line === at).map(({ text }) => text);
    if (given.some((text) => text.includes(expected))) return [];
    return [`line ${at + 1} of wrong.mts must be refused with: ${expected}; it gave: ${given}`];
  });
}

function compile(ts, folder, files, more) {
  const options = {
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    typeRoots: [resolve("node_modules", "@types")],
    types: ["node"],
    ...more,
  };
  const program = ts.createProgram(files, options);
  const errors = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, "\n");
    if (!file) return { line: -1, text };
    const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
    return { line, text: `${relative(folder, file.fileName)}:${line + 1}: ${text}` };
  });
  return { errors, files: program.getSourceFiles().map(({ fileName }) => resolve(fileName)) };
}

function isClient(file) {
  return CLIENTS.some((name) => file.includes(name));
}
