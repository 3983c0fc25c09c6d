import { fenceRead, V1_PREFIXES } from "@echomq/scripts";
import { type Kind, kindKey, reserveKey, stampKey, type Unit, unitKey } from "@echomq/wire";
import { type Mode, type ScriptRights, scriptRights } from "./manifest.js";
import { literal, startsWith } from "./pattern.js";
import {
  EXTRA_SPECS,
  type Extra,
  type PlainCommand,
  RAW_ON_V2,
  ROLE_SPECS,
  type Role,
  V1_TELLING_UNITS,
} from "./roles.js";

/** Whose rights, on what. */
export interface RightsRequest {
  readonly role: Role;
  readonly extras?: readonly Extra[];
  /** Bare name of the queue on the v2 wire. */
  readonly q: string;
  /** Bare names of the queues that dead letters go to, or back to. */
  readonly others?: readonly string[];
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
  const { q, prefixes = V1_PREFIXES, extras = [], others = [] } = request;
  const role = ROLE_SPECS[request.role];
  const besides = extras.map((extra) => EXTRA_SPECS[extra]);
  const specs = [role, ...besides];
  const commands = new Set<string>();
  const keys = new Map<string, Mode>();
  const declared = new Set<string>();
  const grant = (pattern: string, mode: Mode): void => {
    keys.set(pattern, merge(keys.get(pattern), mode));
  };
  const run = (names: readonly string[], on: RightsRequest): void => {
    for (const script of scriptRights(role.package, names)) {
      for (const name of script.commands) commands.add(name.toLowerCase());
      for (const [name, patterns] of keysOf(script, on)) {
        const mode = script.access[name];
        for (const pattern of patterns) {
          declared.add(pattern);
          if (mode) grant(pattern, mode);
        }
      }
    }
  };
  run(
    specs.flatMap(({ scripts }) => scripts),
    request,
  );
  const there = besides.flatMap((extra) => extra.others ?? []);
  for (const other of others) run(there, { ...request, q: other });
  for (const plain of specs.flatMap((spec) => spec.plain)) {
    commands.add(plain.command);
    for (const pattern of placesOf(plain, request)) grant(pattern, plain.mode ?? "r");
  }
  if (!role.boots) for (const key of elsewhere(request)) grant(literal(key), "r");
  const fences = role.boots ? [q, ...others] : [];
  for (const [name, key] of fences.flatMap((one) => fenceRead(one, prefixes).commands)) {
    commands.add(String(name).toLowerCase());
    grant(literal(String(key)), "r");
  }
  return {
    commands: [...commands].sort(),
    keys: withoutCovered(keys),
    declared: [...withoutCovered(new Map([...declared].map((one) => [one, "rw"]))).keys()],
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
    } else if (Object.hasOwn(RAW_ON_V2, `${script.name}.${name}`)) {
      const unit = RAW_ON_V2[`${script.name}.${name}`];
      yield [name, [unit === "*" ? startsWith(queueBase(q)) : literal(unitKey(q, unit as Unit))]];
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
  if (on === "v2") return [startsWith(queueBase(q))];
  if (on !== "both") return [literal(unitKey(q, on))];
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

/** Keys that tell whether v1 has a queue of this name at a prefix where it is found most. */
function elsewhere({ q, prefixes = [], v1Queue = q }: RightsRequest): readonly string[] {
  const bare = /^\{.*\}$/s.test(v1Queue) ? v1Queue.slice(1, -1) : v1Queue;
  const names = new Set([v1Queue, bare, `{${bare}}`]);
  return [...new Set([...prefixes, ...V1_PREFIXES])].flatMap((prefix) =>
    [...names].flatMap((name) => V1_TELLING_UNITS.map((unit) => `${prefix}:${name}:${unit}`)),
  );
}

/** A pattern says nothing beside another that has all its keys and all its rights. */
function withoutCovered(keys: ReadonlyMap<string, Mode>): ReadonlyMap<string, Mode> {
  const left = [...keys].filter(
    ([pattern, mode]) =>
      ![...keys].some(
        ([other, has]) =>
          other !== pattern && coversKeys(other, pattern) && merge(has, mode) === has,
      ),
  );
  return new Map(left.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function coversKeys(wide: string, pattern: string): boolean {
  // Only patterns made by `startsWith` end in a star that is not escaped.
  const open = wide.endsWith("*") && !wide.endsWith("\\*");
  return open && pattern.startsWith(wide.slice(0, -1));
}
