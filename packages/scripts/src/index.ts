export { ServerClock } from "./clock/server-clock.js";
export type { CallOptions, DispatcherOptions } from "./dispatch/dispatcher.js";
export { Dispatcher } from "./dispatch/dispatcher.js";
export { typedError } from "./dispatch/errors.js";
export type {
  Arg,
  Command,
  DriverState,
  FaultKind,
  LaneRole,
  RedisDriver,
  Reply,
  Route,
  Settled,
} from "./driver/types.js";
export { DriverFault, isDriverFault } from "./driver/types.js";
export type { FenceRead } from "./fence/probe.js";
export { fenceRead, V1_PREFIXES } from "./fence/probe.js";
export {
  ackScript,
  addedScript,
  addScript,
  advanceScript,
  beginScript,
  buryScript,
  cancelScript,
  capacityScript,
  closeScript,
  countScript,
  countsScript,
  dataScript,
  dedupsScript,
  endedScript,
  expiredScript,
  finishScript,
  getScript,
  heartbeatScript,
  holderScript,
  initScript,
  inspectScript,
  limitScript,
  limitsScript,
  loglinesScript,
  logScript,
  mendScript,
  metricsScript,
  nodeScript,
  owedScript,
  pageScript,
  pauseScript,
  progressScript,
  promoteScript,
  publishScript,
  purgeScript,
  pushScript,
  ranksScript,
  recoverScript,
  redelayScript,
  removeScript,
  renewScript,
  rerankScript,
  rescueScript,
  retryScript,
  stepScript,
  tailScript,
  turnScript,
  unlockScript,
  unscheduleScript,
  verdictsScript,
  wipeScript,
  workersScript,
} from "./generated/bundle.js";
export type { EncodedCall } from "./registry/codec.js";
export { decodeReply, encodeCall } from "./registry/codec.js";
export type { ScriptName } from "./registry/index.js";
export { REGISTRY, SPECS } from "./registry/index.js";
export type { RunField } from "./registry/run-fields.js";
export { RUN_FIELDS } from "./registry/run-fields.js";
export type {
  ArgSpec,
  CallOf,
  FenceForm,
  GroupSpec,
  KeyName,
  ReplyOf,
  ReplySpec,
  Script,
  ScriptSpec,
  TableSpec,
  ToldJob,
} from "./registry/spec.js";
