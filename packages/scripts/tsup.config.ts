import { defineConfig } from "tsup";
import { library } from "../../tsup.base.js";

export default defineConfig(
  library({
    entry: [
      "src/index.ts",
      "src/ioredis/index.ts",
      "src/node-redis/index.ts",
      "src/driver-kit/index.ts",
      "src/cli/index.ts",
    ],
    platform: "node",
  }),
);
