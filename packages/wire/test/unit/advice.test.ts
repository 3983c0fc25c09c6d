import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ADVICE, adviceFor } from "../../src/advice.js";

const bundle = new URL("../../../scripts/bundle/", import.meta.url);
const scripts = readdirSync(bundle).map((name) => readFileSync(new URL(name, bundle), "utf8"));

/** Whether a script has a text that begins so, also one it puts together of two. */
function says(lua: string, text: string): boolean {
  return [...lua.matchAll(/'(EMQ[A-Z]+ [^']*)'/g)].some(([, part = ""]) => {
    if (part.startsWith(text)) return true;
    return (
      part.endsWith(" ") && text.startsWith(part) && lua.includes(`'${text.slice(part.length)}`)
    );
  });
}

test.each(ADVICE)("%s is what a script says", (text) => {
  expect(scripts.filter((lua) => says(lua, text))).not.toEqual([]);
});

test("the longer text of two that begin alike comes first", () => {
  const known = ADVICE.map(([text]) => text);
  for (const [at, text] of known.entries()) {
    expect(known.slice(0, at).filter((earlier) => text.startsWith(earlier))).toEqual([]);
  }
});

test("a text nobody knows has none", () => {
  expect(adviceFor("EMQSTATE", "something new")).toBeUndefined();
  expect(adviceFor("EMQFENCE", "none")).toBeUndefined();
});
