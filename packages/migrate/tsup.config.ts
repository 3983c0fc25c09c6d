import { defineConfig } from "tsup";
import { library } from "../../tsup.base.js";

export default defineConfig(
  library({
    entry: { index: "src/index.ts", cli: "src/cli.ts", "v1-guard/index": "src/v1-guard/index.ts" },
    platform: "node",
  }),
);
