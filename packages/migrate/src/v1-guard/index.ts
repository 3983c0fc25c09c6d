export type { CallClient, GuardClient, SendCommandClient } from "./client.js";
export type { GuardOptions } from "./guard.js";
export { guardV1Queue } from "./guard.js";
