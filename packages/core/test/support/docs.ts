import { readFileSync } from "node:fs";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

/** Code blocks of a page of `docs/`. */
export function codeOf(page: string): string[] {
  return [...read(`../../../../docs/${page}.md`).matchAll(/```ts\n([\s\S]*?)```/g)].map(
    ([, code = ""]) => code.trim(),
  );
}

/** What stands between `// region` and `// end` in an example of `test/docs`, without its indent. */
export function regionsOf(example: string): string[] {
  const text = read(`../docs/${example}.ts`)
    .replaceAll("../../src/index.js", "@echomq/core")
    .replaceAll(/\.\.\/\.\.\/src\/(\w+)\/index\.js/g, "@echomq/core/$1");
  return [...text.matchAll(/\/\/ region\n([\s\S]*?)\/\/ end/g)].map(([, code = ""]) => {
    const indent = /^ */.exec(code)?.[0].length ?? 0;
    const lines = code.trimEnd().split("\n");
    return lines.map((line) => line.slice(Math.min(indent, line.search(/\S|$/)))).join("\n");
  });
}
