/** Who may import whom: `wire <- scripts <- core <- apps`, `wire, scripts <- migrate <- apps`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the sources of each published package may import of the workspace, besides themselves. */
const ALLOWED = {
  wire: [],
  "ext-id": [],
  scripts: ["wire"],
  core: ["wire", "scripts", "ext-id"],
  migrate: ["wire", "scripts"],
};

// These two run anywhere, so not even Node's own modules.
const PURE = ["wire", "ext-id"];

// Set-up runs before packages resolve by name; the generator runs before what indexes import exists.
const BY_PATH = [
  { from: "^tooling/testkit/src/", to: "^tooling/setup/servers\\.(?:mjs|d\\.mts)$" },
  { from: "^tooling/setup/", to: "^tooling/testkit/src/index\\.ts$" },
  { from: "^tooling/gen/src/", to: "^packages/(?:scripts|migrate)/src/registry/" },
];

const FOLDERS = ["packages", "apps", "tooling"];
const WORKSPACE = "^(?:packages|apps|tooling)/";

/** Source files that packages export, read from their manifests, so there is no second list. */
function entryPoints() {
  const found = [];
  for (const folder of FOLDERS) {
    for (const name of readdirSync(folder)) {
      const manifest = join(folder, name, "package.json");
      if (!existsSync(manifest)) continue;
      const { exports } = JSON.parse(readFileSync(manifest, "utf8"));
      for (const target of Object.values(exports ?? {})) {
        const file = typeof target === "string" ? target : target["@echomq/source"];
        if (file?.endsWith(".ts"))
          found.push(`^${join(folder, name, file).replaceAll(".", "\\.")}$`);
      }
    }
  }
  return found;
}

const byPathRules = (rule, to) => [
  {
    ...rule,
    from: { path: "^(packages|apps|tooling)/([^/]+)/", pathNot: BY_PATH.map(({ from }) => from) },
    to: { path: WORKSPACE, ...to, pathNot: ["^$1/$2/", ...(to.pathNot ?? [])] },
  },
  ...BY_PATH.map(({ from, to: allowed }) => ({
    ...rule,
    from: { path: `(?=${from})^(packages|apps|tooling)/([^/]+)/` },
    to: { path: WORKSPACE, ...to, pathNot: ["^$1/$2/", allowed, ...(to.pathNot ?? [])] },
  })),
];

const floors = Object.entries(ALLOWED).map(([name, allowed]) => ({
  name: `floor-${name}`,
  comment: `${name} may import of the workspace only: ${[name, ...allowed].join(", ")}`,
  severity: "error",
  from: { path: `^packages/${name}/src/` },
  to: { path: WORKSPACE, pathNot: `^packages/(?:${[name, ...allowed].join("|")})/` },
}));

const pure = PURE.map((name) => ({
  name: `pure-${name}`,
  comment: `${name} imports nothing, not even from Node`,
  severity: "error",
  from: { path: `^packages/${name}/src/` },
  to: { pathNot: `^packages/${name}/src/` },
}));

export default {
  forbidden: [
    ...floors,
    ...pure,
    ...byPathRules(
      {
        name: "no-deep-import",
        comment: "another package is imported through one of its entry points",
        severity: "error",
      },
      { pathNot: entryPoints() },
    ),
    ...byPathRules(
      {
        name: "no-path-to-another-package",
        comment: "another package is imported by its name, not by a path",
        severity: "error",
      },
      { dependencyTypes: ["local"] },
    ),
    {
      name: "apps-stand-alone",
      comment: "nothing imports an app",
      severity: "error",
      from: { path: "^(packages|apps|tooling)/([^/]+)/" },
      to: { path: "^apps/", pathNot: "^$1/$2/" },
    },
    {
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "declared-dependencies",
      comment: "a package imports only what its own manifest names",
      severity: "error",
      from: { path: "^(?:packages|apps|tooling)/[^/]+/src/" },
      to: {
        dependencyTypes: ["npm-no-pkg", "npm-unknown", "npm-dev"],
        dependencyTypesNot: ["npm", "npm-peer", "npm-optional"],
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(?:^|/)(?:dist|coverage|temp)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@echomq/source", "import", "node", "types", "default"],
    },
  },
};
