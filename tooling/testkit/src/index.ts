export { type ClusterOptions, startCluster, type TestCluster } from "./cluster/cluster.js";
export type { MoveOptions } from "./cluster/move.js";
export { startReplica, type TestReplica } from "./cluster/replica.js";
export { slotOf } from "./cluster/slot.js";
export { dumpAll, type KeyDump } from "./dump.js";
export { flakyDriver } from "./flaky/driver.js";
export {
  type FlakyCall,
  type FlakyCount,
  type FlakyFault,
  FlakyPlan,
  type FlakyRule,
  ofCommand,
  ofScript,
} from "./flaky/plan.js";
export { uniqueQueue } from "./isolation.js";
export { LeakCheck, type LeakOptions } from "./leak.js";
export {
  type ProgramEnd,
  type ProgramRun,
  startProgram,
  type Told,
  tellOf,
} from "./program.js";
export { type ReplyFilter, startProxy, type TcpProxy } from "./proxy/proxy.js";
export { type Engine, type ServerBinary, serverBinary } from "./server/binary.js";
export { freePort } from "./server/port.js";
export { type ServerOptions, startServer, type TestServer } from "./server/server.js";
export { SHARED_VARIABLES, sharedServer, URL_VARIABLES } from "./server/shared.js";
export { type StrictOptions, strictDriver } from "./strict/driver.js";
