// What the command lines of this family share; it is no interface for others.
export { addressFault, addressWord, defaultAddress, shownAddress } from "./address.js";
export { isClusterNode } from "./cluster.js";
export { type Host, STOPPED, type StartOptions, type Stream, start } from "./host.js";
export { onHost, runProgram, UsageError } from "./program.js";
export { shellWord, table, visible } from "./text.js";
export { connectionTrouble, type Trouble } from "./trouble.js";
