/** Reads which names the installed types promise as values, and whether the types compile. */
import { join, resolve, sep } from "node:path";
import ts from "typescript";

/** Value exports of each entry point by its types, seen from a program in `folder`. */
export function valueExports(folder, entries, { nodeTypes }) {
  const options = {
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noEmit: true,
    typeRoots: [resolve("node_modules", "@types")],
    types: nodeTypes ? ["node"] : [],
  };
  const host = ts.createCompilerHost(options);
  const root = join(folder, "types.mts");
  const text = entries.map((entry, index) => `import * as m${index} from "${entry}";`).join("\n");
  const exists = host.fileExists.bind(host);
  const read = host.readFile.bind(host);
  host.fileExists = (file) => file === root || exists(file);
  host.readFile = (file) => (file === root ? text : read(file));
  const program = ts.createProgram([root], options, host);
  const checker = program.getTypeChecker();
  const exports = {};
  for (const statement of program.getSourceFile(root).statements) {
    const module = checker.getSymbolAtLocation(statement.moduleSpecifier);
    const symbols = module ? checker.getExportsOfModule(module) : [];
    exports[statement.moduleSpecifier.text] = symbols
      .filter((symbol) => isValue(checker, symbol))
      .map((symbol) => symbol.name)
      .sort();
  }
  return { exports, problems: diagnostics(program) };
}

function isValue(checker, symbol) {
  const typeOnly = symbol.declarations?.some((node) => ts.isTypeOnlyExportDeclaration(node));
  if (typeOnly) return false;
  const alias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const target = alias ? checker.getAliasedSymbol(symbol) : symbol;
  return (target.flags & ts.SymbolFlags.Value) !== 0;
}

function diagnostics(program) {
  const own = `${sep}node_modules${sep}@echomq${sep}`;
  return ts
    .getPreEmitDiagnostics(program)
    .filter(
      ({ file }) => !file || file.fileName.includes(own) || file.fileName.endsWith("types.mts"),
    )
    .map(({ file, messageText }) => {
      const where = file ? `${file.fileName}: ` : "";
      return `${where}${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
}
