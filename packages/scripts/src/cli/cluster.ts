import { isDriverFault, type RedisDriver } from "../driver/types.js";

/** Whether the server behind an address is a node of a cluster; a user who may not ask takes it for single. */
export async function isClusterNode(driver: RedisDriver): Promise<boolean> {
  try {
    return /^cluster_enabled:1/m.test(String(await driver.command(["INFO", "cluster"])));
  } catch (error) {
    if (isDriverFault(error, "reply")) return false;
    throw error;
  }
}
