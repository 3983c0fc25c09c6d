import type { Command, LaneRole, RedisDriver, Reply, Route, Settled } from "@echomq/scripts";

/** Does something instead of, or besides, sending a command. */
export type Fault = (args: Command, inner: RedisDriver) => Promise<Reply>;

/** A driver that meddles with each command of each of its lanes. */
export function sabotaged(inner: RedisDriver, fault: Fault): RedisDriver {
  return {
    get info() {
      return inner.info;
    },
    get state() {
      return inner.state;
    },
    command: (args: Command, _route?: Route) => fault(args, inner),
    async pipeline(commands: readonly Command[]): Promise<readonly Settled<Reply>[]> {
      return Promise.all(
        commands.map((args) =>
          fault(args, inner).then(
            (value) => ({ ok: true as const, value }),
            (error: Error) => ({ ok: false as const, error }),
          ),
        ),
      );
    },
    fork: async (role: LaneRole) => sabotaged(await inner.fork(role), fault),
    onState: (listener) => inner.onState(listener),
    close: (mode) => inner.close(mode),
  };
}

/** Runs every script with one more line of Lua before its own. */
export function withLua(line: string): Fault {
  return async (args, inner) => {
    const [name, script] = args;
    // A digest nobody knows makes the dispatcher send the source.
    if (name === "EVALSHA") return inner.command(["EVALSHA", "0".repeat(40), ...args.slice(2)]);
    if (name !== "EVAL") return inner.command(args);
    return inner.command(["EVAL", `${line}\n${String(script)}`, ...args.slice(2)]);
  };
}

/** Sends one more command after the first call of a script. */
export function besides(command: (stamp: string) => Command): Fault {
  const done = new Set<string>();
  return async (args, inner) => {
    const reply = await inner.command(args);
    const stamp = String(args[3] ?? "");
    if (args[0] === "EVALSHA" && /^emq:.*:meta$/.test(stamp) && !done.has(stamp)) {
      done.add(stamp);
      await inner.command(command(stamp));
    }
    return reply;
  };
}
