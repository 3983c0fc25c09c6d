import { defineConfig } from "vitest/config";

const FOLDERS = ["packages", "apps", "tooling"];

function testsIn(kind: string): string[] {
  return FOLDERS.map((folder) => `${folder}/*/test/${kind}/**/*.test.ts`);
}

// The workspace's sources are tested, not its built files; vitest reads only the ssr condition.
const conditions = ["@echomq/source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: [...testsIn("unit"), ...testsIn("property")] },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: testsIn("integration"),
          globalSetup: ["tooling/testkit/src/vitest-setup.ts"],
        },
      },
    ],
  },
});
