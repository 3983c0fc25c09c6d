import { EVENT_CODES, KINDS, LIMITS, RESERVE, UNITS, WIRE_VERSION } from "@echomq/wire";
import type { Bundled } from "./bundle.js";
import type { ScriptPackage } from "./packages.js";

/** The wire as data for other languages: units, kinds, limits and every script's shape, rights and SHA. */
export function manifest(pkg: ScriptPackage, scripts: readonly Bundled[]): string {
  const specs = scripts.map(({ name, sha, commands, access }) => ({
    ...pkg.registry[name],
    commands,
    access,
    sha,
    file: `bundle/${name}.lua`,
  }));
  return `${JSON.stringify(
    {
      wire: WIRE_VERSION,
      units: UNITS,
      kinds: KINDS,
      reserve: RESERVE,
      events: EVENT_CODES,
      limits: LIMITS,
      scripts: specs,
    },
    null,
    2,
  )}\n`;
}
