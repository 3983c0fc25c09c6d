import { defineConfig } from "tsup";
import { library } from "../../tsup.base.js";

export default defineConfig(
  library({
    entry: ["src/index.ts", "src/cli.ts", "src/otel/index.ts", "src/testing/index.ts"],
    platform: "node",
  }),
);
