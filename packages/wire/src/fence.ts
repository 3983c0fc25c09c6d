import type { FenceCode } from "./errors.js";
import { bare } from "./names.js";
import { printable } from "./printable.js";
import type { FenceProbes, V1Probe } from "./probes.js";
import { phaseUnderWay } from "./runs.js";
import { tombstoneHead } from "./tombstone.js";
import { parseVersion, WIRE_MAJOR } from "./versions.js";

/** A refusal, with what decided it. `found` is safe to show. */
export interface FenceRefusal {
  readonly action: "refuse";
  readonly code: FenceCode;
  readonly found: string;
  readonly expected: string;
  readonly probe: string;
}

/**
 * The client may go on. `state` is `v2` when the queue is stamped, else `empty`; `opened` tells
 * whether a v2 client has booted there. A v1 client that may go on always gets `empty`.
 */
export interface FencePass {
  readonly action: "go";
  readonly state: "empty" | "v2";
  readonly opened: boolean;
}

/** Outcome of the fence. */
export type FenceDecision = FencePass | FenceRefusal;

type Finding = Omit<FenceRefusal, "action" | "expected">;

const V2_EXPECTS = "echomq:2.x, or nothing";
const V1_EXPECTS = "bullmq:*, or nothing";
/** What is found where a stamp is missing. */
export const NO_STAMP = "no stamp";

/** Decides whether a v2 client may work on a queue. The first finding refuses. */
export function decideFence(p: FenceProbes): FenceDecision {
  const finding =
    reserve(p) ??
    stampText(p) ??
    journal(p) ??
    intrusion(p) ??
    stampHash(p) ??
    first(p.v1, (probe) => v1Prefix(p, probe));
  if (finding !== null) return refuse(finding, V2_EXPECTS);
  return p.stamp.kind === "string"
    ? { action: "go", state: "v2", opened: p.opened !== null && p.opened !== "" }
    : { action: "go", state: "empty", opened: false };
}

/**
 * Decides whether a v1 client may work on a queue; `v1` holds the prefix it uses. A tombstone is
 * asked before the stamp, because it says more.
 */
export function decideV1Guard(p: FenceProbes): FenceDecision {
  const finding =
    reserve(p, true) ??
    journal(p) ??
    first(p.v1, moved) ??
    asV1(stampText(p, true)) ??
    asV1(intrusion(p)) ??
    asV1(stampHash(p)) ??
    first(p.v1, (probe) => asV1(v1Prefix(p, probe)));
  return finding === null
    ? { action: "go", state: "empty", opened: false }
    : refuse(finding, V1_EXPECTS);
}

/** The server's own version; another major elsewhere on the server is no concern of a v1 client. */
function reserve(p: FenceProbes, v1 = false): Finding | null {
  if (p.reserveVersion === null) return null;
  const version = parseVersion(p.reserveVersion);
  const found = shown(p.reserveVersion);
  const probe = "{emq}:version";
  if (version.family !== "echomq") return { code: "FOREIGN_VERSION", found, probe };
  return v1 || version.major === WIRE_MAJOR ? null : { code: "MAJOR_MISMATCH", found, probe };
}

/** A stamp that is a text, or of a type nobody writes. */
function stampText(p: FenceProbes, v1 = false): Finding | null {
  const probe = stampOf(p);
  if (p.stamp.kind === "other") return odd(p.stamp.type, probe);
  if (p.stamp.kind !== "string") return null;
  const version = parseVersion(p.stamp.text);
  const found = shown(p.stamp.text);
  switch (version.family) {
    case "echomq":
      if (v1) return { code: "V2_KEYSPACE", found, probe };
      return version.major === WIRE_MAJOR ? null : { code: "MAJOR_MISMATCH", found, probe };
    case "migrating":
      return { code: "MIGRATION_IN_PROGRESS", found: printable(p.stamp.text, 128), probe };
    case "tombstone":
      return buried(p.stamp.text, probe);
    default:
      return { code: "FOREIGN_VERSION", found, probe };
  }
}

/** A migration that its journal shows under way. */
function journal(p: FenceProbes): Finding | null {
  if (p.migration === null || !phaseUnderWay(p.migration.phase)) return null;
  const found = `run ${printable(p.migration.run)}, phase ${printable(p.migration.phase)}`;
  return { code: "MIGRATION_IN_PROGRESS", found, probe: `{emq}:migration:${bare(p.queue)}` };
}

/** A v2 queue whose stamp was removed or written over, or whose `v2:meta` is no hash. */
function intrusion(p: FenceProbes): Finding | null {
  if (p.v2Meta === "none") return null;
  if (p.v2Meta === "other") return odd("key of another type", `emq:{${bare(p.queue)}}:v2:meta`);
  if (p.stamp.kind === "string") return null;
  const found = p.stamp.kind === "hash" ? hashText(p.stamp.version) : NO_STAMP;
  return { code: "V1_INTRUSION", found, probe: stampOf(p) };
}

/** A v1 queue of prefix `emq` and a braced name has its `meta` where the stamp belongs. */
function stampHash(p: FenceProbes): Finding | null {
  return p.stamp.kind === "hash" ? v1Hash(p.stamp.version, stampOf(p)) : null;
}

/** What stands at one v1 prefix. */
function v1Prefix(p: FenceProbes, v1: V1Probe): Finding | null {
  // a stamp refuses v1 clients as a tombstone does; what they leave beside it means nothing
  if (v1.metaKey === stampOf(p) && p.stamp.kind === "string") return null;
  switch (v1.meta.kind) {
    case "hash":
      return v1Hash(v1.meta.version, v1.metaKey);
    case "other":
      return odd(v1.meta.type, v1.metaKey);
    case "string": {
      const finding = buried(v1.meta.text, v1.metaKey);
      return finding.code === "MIGRATION_TOMBSTONE" ? null : finding;
    }
    case "none": {
      const [probe] = v1.bare;
      return probe === undefined ? null : { code: "V1_KEYSPACE", found: "v1 keys, no meta", probe };
    }
  }
}

/** A tombstone under a v1 client's own prefix. */
function moved(v1: V1Probe): Finding | null {
  if (v1.meta.kind !== "string") return null;
  const finding = buried(v1.meta.text, v1.metaKey);
  return finding.code === "FOREIGN_VERSION" ? null : finding;
}

/** Judges a text that can only be a tombstone. */
function buried(text: string, probe: string): Finding {
  const version = parseVersion(text);
  if (version.family !== "tombstone") {
    return { code: "FOREIGN_VERSION", found: shown(text), probe };
  }
  const code = version.state === "done" ? "MIGRATION_TOMBSTONE" : "MIGRATION_IN_PROGRESS";
  return { code, found: printable(tombstoneHead(version), 256), probe };
}

function v1Hash(version: string | null, probe: string): Finding {
  const known = version === null || parseVersion(version).family === "bullmq";
  return { code: known ? "V1_KEYSPACE" : "FOREIGN_VERSION", found: hashText(version), probe };
}

function hashText(version: string | null): string {
  return version === null ? "a hash without a version" : shown(version);
}

function shown(text: string): string {
  return text === "" ? "an empty text" : printable(text);
}

function odd(type: string, probe: string): Finding {
  return { code: "FOREIGN_VERSION", found: `a ${printable(type)}`, probe };
}

/** The same finding as a v1 client sees it: its own keyspace is fine, a damaged v2 one is v2. */
function asV1(finding: Finding | null): Finding | null {
  if (finding?.code === "V1_KEYSPACE") return null;
  return finding?.code === "V1_INTRUSION" ? { ...finding, code: "V2_KEYSPACE" } : finding;
}

function stampOf(p: FenceProbes): string {
  return `emq:{${bare(p.queue)}}:meta`;
}

function first<T>(items: readonly T[], judge: (item: T) => Finding | null): Finding | null {
  for (const item of items) {
    const finding = judge(item);
    if (finding !== null) return finding;
  }
  return null;
}

function refuse(finding: Finding, expected: string): FenceRefusal {
  return { action: "refuse", ...finding, expected };
}
