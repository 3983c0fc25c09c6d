import { stampKey } from "@echomq/wire";
import { FLOW_SUFFIXES, isV1Unit, V1_UNITS } from "./units.js";

const VAULT = "emq-vault";

/** Builders for the keys of one v1 queue, `<prefix>:<queue>:…`, spelled as v1 spells them. */
export interface V1Keys {
  /** `<prefix>:<queue>:`. */
  readonly base: string;
  /** Whether v1's `meta` stands where the v2 stamp belongs. */
  readonly inPlace: boolean;
  /** Every queue-level key, in the order of the frozen table. */
  readonly live: readonly string[];
  /** Where the fence moves them, in the same order. */
  readonly vault: readonly string[];
  unit(unit: string): string;
  vaulted(unit: string): string;
  /** A job's hash. */
  job(id: string): string;
  logs(id: string): string;
  lock(id: string): string;
  dedup(id: string): string;
}

/** Makes the builders; `q` is the bare name on the v2 wire. */
export function v1Keys(prefix: string, queue: string, q: string): V1Keys {
  const base = `${prefix}:${queue}:`;
  const vaulted = (unit: string): string => `${base}${VAULT}:${unit}`;
  return {
    base,
    inPlace: `${base}meta` === stampKey(q),
    live: V1_UNITS.map(({ unit }) => base + unit),
    vault: V1_UNITS.map(({ unit }) => vaulted(unit)),
    unit: (unit) => base + unit,
    vaulted,
    job: (id) => base + id,
    logs: (id) => `${base}${id}:logs`,
    lock: (id) => `${base}${id}:lock`,
    dedup: (id) => `${base}de:${id}`,
  };
}

/** What a key of a v1 queue is, told by its name alone. */
export type V1KeyKind =
  | { readonly kind: "unit"; readonly unit: string }
  | { readonly kind: "vault"; readonly unit: string }
  | { readonly kind: "flow" | "logs" | "lock" | "dedup" | "schedule"; readonly id: string }
  | { readonly kind: "job"; readonly id: string }
  | { readonly kind: "v2" };

/** Classifies what follows `<prefix>:<queue>:`. Total; an unknown name can only be a job's. */
export function classifyV1(rest: string, inPlace: boolean): V1KeyKind {
  if (inPlace && rest.startsWith("v2:")) return { kind: "v2" };
  if (isV1Unit(rest)) return { kind: "unit", unit: rest };
  if (rest.startsWith(`${VAULT}:`)) return { kind: "vault", unit: rest.slice(VAULT.length + 1) };
  if (rest.startsWith("de:")) return { kind: "dedup", id: rest.slice(3) };
  if (rest.startsWith("repeat:")) return { kind: "schedule", id: rest.slice(7) };
  const colon = rest.lastIndexOf(":");
  const id = rest.slice(0, Math.max(colon, 0));
  const suffix = rest.slice(colon + 1);
  if (colon > 0) {
    if (suffix === "logs" || suffix === "lock") return { kind: suffix, id };
    if (FLOW_SUFFIXES.some((each) => each === suffix)) return { kind: "flow", id };
  }
  return { kind: "job", id: rest };
}
