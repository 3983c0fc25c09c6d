import { fileURLToPath } from "node:url";
import { MIGRATION_REGISTRY } from "../../../packages/migrate/src/registry/index.js";
import { REGISTRY } from "../../../packages/scripts/src/registry/index.js";
import type { ScriptSpec } from "../../../packages/scripts/src/registry/spec.js";

// Registries are read from their source: a package's index needs the bundle that is made here.

/** A package that owns Lua scripts. */
export interface ScriptPackage {
  readonly name: string;
  readonly folder: string;
  readonly registry: Readonly<Record<string, ScriptSpec>>;
  /** Where its bodies and libraries are looked up, first match first. */
  readonly lua: readonly string[];
  /** Module that declares `Script` and the registry, as the generated file imports them. */
  readonly imports: {
    readonly script: string;
    readonly registry: string;
    readonly constant: string;
  };
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const scriptsLua = `${root}packages/scripts/lua`;

export const ROOT: string = root;

export const PACKAGES: readonly ScriptPackage[] = [
  {
    name: "scripts",
    folder: `${root}packages/scripts`,
    registry: REGISTRY,
    lua: [scriptsLua],
    imports: {
      script: "../registry/spec.js",
      registry: "../registry/index.js",
      constant: "REGISTRY",
    },
  },
  {
    name: "migrate",
    folder: `${root}packages/migrate`,
    registry: MIGRATION_REGISTRY,
    lua: [`${root}packages/migrate/lua`, scriptsLua],
    imports: {
      script: "@echomq/scripts",
      registry: "../registry/index.js",
      constant: "MIGRATION_REGISTRY",
    },
  },
];
