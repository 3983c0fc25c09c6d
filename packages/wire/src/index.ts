export type {
  ErrorCode,
  ErrorContext,
  ErrorInit,
  FenceCode,
  LocalCode,
  ServerCode,
  WireCode,
} from "./errors.js";
export {
  ConfigError,
  ECHOMQ_ERROR,
  EchoMQError,
  FenceError,
  isEchoMQError,
  ServerError,
  ValidationError,
  WireError,
} from "./errors.js";
export type { EventCode, EventName } from "./events.js";
export { EVENT_CODES } from "./events.js";
export type { FenceDecision, FencePass, FenceRefusal } from "./fence.js";
export { decideFence, decideV1Guard } from "./fence.js";
export { fenceError } from "./fence-message.js";
export type { KeyParts, QueueKeys, UnclassifiedKey } from "./keys.js";
export {
  buildKey,
  kindKey,
  parseKey,
  queueKeys,
  reserveKey,
  stampKey,
  unitKey,
} from "./keys.js";
export { LIMITS } from "./limits.js";
export { jobId, queueName, wrap } from "./names.js";
export { printable } from "./printable.js";
export type { FenceProbes, V1Probe } from "./probes.js";
export { errorFromReply, WIRE_CODES } from "./reply.js";
export { phaseUnderWay } from "./runs.js";
export { utf8Length } from "./text.js";
export type { Tombstone } from "./tombstone.js";
export { parseTombstone, tombstone } from "./tombstone.js";
export type { Kind, RedisType, Reserve, Unit, UnitSpec } from "./units.js";
export { KIND_HOLDS, KINDS, RESERVE, UNITS } from "./units.js";
export type { Version } from "./versions.js";
export {
  migratingStamp,
  parseVersion,
  STAMP_PREFIX,
  WIRE_MAJOR,
  WIRE_VERSION,
} from "./versions.js";
