import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("docs/writing-a-driver.md shows the driver that runs the kit", () => {
  const here = import.meta.url;
  const guide = readFileSync(new URL("../../../../docs/writing-a-driver.md", here), "utf8");
  const skeleton = readFileSync(new URL("../support/skeleton.ts", here), "utf8");
  expect(guide).toContain(skeleton.replace("../../src/driver/types.js", "@echomq/scripts"));
});
