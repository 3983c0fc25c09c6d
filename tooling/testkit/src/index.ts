export { dumpAll, type KeyDump } from "./dump.js";
export { uniqueQueue } from "./isolation.js";
export { LeakCheck, type LeakOptions } from "./leak.js";
export { type Engine, type ServerBinary, serverBinary } from "./server/binary.js";
export { freePort } from "./server/port.js";
export { type ServerOptions, startServer, type TestServer } from "./server/server.js";
export { SHARED_VARIABLES, sharedServer, URL_VARIABLES } from "./server/shared.js";
export { type StrictOptions, strictDriver } from "./strict/driver.js";
