import { fenceRead, V1_PREFIXES } from "@echomq/scripts";
import { type Kind, kindKey, reserveKey, stampKey, type Unit, unitKey } from "@echomq/wire";
import { type Mode, type ScriptRights, scriptRights } from "./manifest.js";
import { literal, startsWith } from "./pattern.js";
import { type PlainCommand, RAW_ON_V2, ROLE_SPECS, type Role } from "./roles.js";

/** Whose rights, on what. */
export interface RightsRequest {
  readonly role: Role;
  /** Bare name of the queue on the v2 wire. */
  readonly q: string;
  /** Prefixes at which a v1 queue is looked for, or taken from. */
  readonly prefixes?: readonly string[];
  /** v1's name of a queue that is migrated, where it is not the v2 name, bare or braced. */
  readonly v1Queue?: string;
}

/** What a user must be allowed to do, and nothing else. */
export interface Rights {
  /** Commands that are sent or called by scripts, without those that run scripts. */
  readonly commands: readonly string[];
  /** Key patterns and what the commands do there. */
  readonly keys: ReadonlyMap<string, Mode>;
  /** Key patterns that scripts declare: the server wants both rights on each to run a script at all. */
  readonly declared: readonly string[];
}

/** Works out the rights of a role from the scripts and commands it runs. */
export function rightsOf(request: RightsRequest): Rights {
  const { q, prefixes = V1_PREFIXES } = request;
  const spec = ROLE_SPECS[request.role];
  const commands = new Set<string>();
  const keys = new Map<string, Mode>();
  const declared = new Set<string>();
  const grant = (pattern: string, mode: Mode): void => {
    keys.set(pattern, merge(keys.get(pattern), mode));
  };
  for (const script of scriptRights(spec.package, spec.scripts)) {
    for (const name of script.commands) commands.add(name.toLowerCase());
    for (const [name, patterns] of keysOf(script, request)) {
      const mode = script.access[name];
      for (const pattern of patterns) {
        declared.add(pattern);
        if (mode) grant(pattern, mode);
      }
    }
  }
  for (const plain of spec.plain) {
    commands.add(plain.command);
    for (const pattern of placesOf(plain, request)) grant(pattern, plain.mode ?? "r");
  }
  for (const [name, key] of spec.boots ? fenceRead(q, prefixes).commands : []) {
    commands.add(String(name).toLowerCase());
    grant(literal(String(key)), "r");
  }
  return {
    commands: [...commands].sort(),
    keys: withoutCovered(keys),
    declared: [...declared].filter((one) => !isCovered(one, declared)).sort(),
  };
}

function merge(before: Mode | undefined, mode: Mode): Mode {
  const both = `${before ?? ""}${mode}`;
  if (both.includes("r")) return both.includes("w") ? "rw" : "r";
  return both.includes("w") ? "w" : "-";
}

/** Patterns of a script's keys by the name its data gives them. */
function* keysOf(
  script: ScriptRights,
  request: RightsRequest,
): Generator<readonly [name: string, patterns: readonly string[]]> {
  const { q } = request;
  for (const name of script.keys) yield [name, [literal(fixed(name, q))]];
  for (const { name, kinds } of script.groups) {
    if (kinds !== "raw") {
      yield [name, kinds.map((kind) => startsWith(kindKey(q, kind as Kind, "x").slice(0, -1)))];
    } else if (RAW_ON_V2.has(`${script.name}.${name}`)) {
      yield [name, [startsWith(queueBase(q))]];
    } else {
      yield [name, v1Bases(request).map(startsWith)];
    }
  }
}

function fixed(name: string, q: string): string {
  if (name === "stamp") return stampKey(q);
  if (!name.startsWith("reserve:")) return unitKey(q, name as Unit);
  const reserved = name.slice("reserve:".length) as Parameters<typeof reserveKey>[0];
  return reserved === "migration" ? reserveKey(reserved, q) : reserveKey(reserved);
}

function placesOf({ on }: PlainCommand, request: RightsRequest): readonly string[] {
  if (on === undefined) return [];
  const { q } = request;
  if (on !== "queue") return [literal(unitKey(q, on))];
  const journal = literal(reserveKey("migration", q));
  return [startsWith(queueBase(q)), journal, ...v1Bases(request).map(startsWith)];
}

/** `emq:{q}:`, under which lies all of a queue but its journal. */
function queueBase(q: string): string {
  return stampKey(q).slice(0, -"meta".length);
}

function v1Bases({ q, prefixes = V1_PREFIXES, v1Queue }: RightsRequest): readonly string[] {
  const names = v1Queue === undefined ? [q, `{${q}}`] : [v1Queue];
  return prefixes.flatMap((prefix) => names.map((name) => `${prefix}:${name}:`));
}

/** A pattern of one key, or of fewer, says nothing beside one that has them all and both rights. */
function withoutCovered(keys: ReadonlyMap<string, Mode>): ReadonlyMap<string, Mode> {
  const whole = new Set([...keys].flatMap(([pattern, mode]) => (mode === "rw" ? [pattern] : [])));
  const left = [...keys].filter(([pattern]) => !isCovered(pattern, whole));
  return new Map(left.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isCovered(pattern: string, by: ReadonlySet<string>): boolean {
  for (const one of by) {
    // Only patterns made by `startsWith` end in a star that is not escaped.
    const open = one.endsWith("*") && !one.endsWith("\\*");
    if (open && one !== pattern && pattern.startsWith(one.slice(0, -1))) return true;
  }
  return false;
}
