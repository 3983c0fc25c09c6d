import type { Command, LaneRole, RedisDriver } from "@echomq/scripts";

/** One write to a lane's connection. */
export interface Sent {
  readonly role: LaneRole;
  /** Names of the commands of this write. */
  readonly commands: readonly string[];
}

/** A driver that notes each write: one entry is one round trip. */
export function counting(driver: RedisDriver, sent: Sent[], role: LaneRole = "main"): RedisDriver {
  const names = (commands: readonly Command[]): string[] =>
    commands.map((command) => String(command[0]));
  return {
    get info() {
      return driver.info;
    },
    get state() {
      return driver.state;
    },
    command(args, route) {
      sent.push({ role, commands: names([args]) });
      return driver.command(args, route);
    },
    pipeline(commands, route) {
      sent.push({ role, commands: names(commands) });
      return driver.pipeline(commands, route);
    },
    fork: async (forked) => counting(await driver.fork(forked), sent, forked),
    onState: (listener) => driver.onState(listener),
    close: (mode) => driver.close(mode),
  };
}
