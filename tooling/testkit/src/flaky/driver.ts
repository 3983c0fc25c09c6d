import { setTimeout as sleep } from "node:timers/promises";
import {
  type Command,
  DriverFault,
  type DriverState,
  type LaneRole,
  type RedisDriver,
  type Reply,
  type Route,
  type Settled,
} from "@echomq/scripts";
import type { FlakyFault, FlakyPlan } from "./plan.js";

/**
 * A driver that does what another does, except where the plan says otherwise. Lanes forked from it
 * share the plan.
 */
export function flakyDriver(driver: RedisDriver, plan: FlakyPlan): RedisDriver {
  return new FlakyLane(driver, plan, "main");
}

class FlakyLane implements RedisDriver {
  readonly #inner: RedisDriver;
  readonly #plan: FlakyPlan;
  readonly #role: LaneRole;
  readonly #listeners = new Set<(state: DriverState) => void>();
  /** Ways to fail the calls in flight. */
  readonly #flying = new Set<(fault: DriverFault) => void>();
  #losses = 0;

  constructor(inner: RedisDriver, plan: FlakyPlan, role: LaneRole) {
    this.#inner = inner;
    this.#plan = plan;
    this.#role = role;
  }

  get info(): RedisDriver["info"] {
    return this.#inner.info;
  }

  get state(): DriverState {
    return this.#shifted(this.#inner.state);
  }

  command(args: Command, route?: Route): Promise<Reply> {
    const fault = this.#faultOf(args, false);
    return this.#flight(async (leave) => {
      if (fault?.kind === "delay") await waitFor(fault);
      const refusal = refusalOf(fault);
      if (refusal !== undefined) throw refusal;
      const answer = this.#inner.command(args, route);
      if (fault?.kind !== "lost" && fault?.kind !== "late") return answer;
      await answer.catch(() => undefined);
      if (fault.kind === "lost") throw this.#lose(leave);
      await waitFor(fault);
      return answer;
    });
  }

  pipeline(commands: readonly Command[], route?: Route): Promise<readonly Settled<Reply>[]> {
    const faults = commands.map((args) => this.#faultOf(args, true));
    const run = this.#flight(async (leave) => {
      await waitAll(faults, "delay");
      const sent = commands.filter((_, at) => refusalOf(faults[at]) === undefined);
      const answers = sent.length === 0 ? [] : [...(await this.#inner.pipeline(sent, route))];
      const settled = faults.map((fault) => {
        const error = refusalOf(fault);
        return error === undefined ? (answers.shift() as Settled<Reply>) : failed(error);
      });
      // Replies come in order: what follows a lost one is lost with it.
      const lostAt = faults.findIndex((fault) => fault?.kind === "lost");
      if (lostAt >= 0) {
        const error = this.#lose(leave);
        return settled.map((one, at) => (at < lostAt ? one : failed(error)));
      }
      await waitAll(faults, "late");
      return settled;
    });
    return run.catch((error: Error) => commands.map(() => failed(error)));
  }

  async fork(role: LaneRole, signal?: AbortSignal): Promise<RedisDriver> {
    return new FlakyLane(await this.#inner.fork(role, signal), this.#plan, role);
  }

  onState(listener: (state: DriverState) => void): () => void {
    const stop = this.#inner.onState((state) => listener(this.#shifted(state)));
    this.#listeners.add(listener);
    return () => {
      stop();
      this.#listeners.delete(listener);
    };
  }

  close(mode?: "drain" | "now"): Promise<void> {
    return this.#inner.close(mode);
  }

  #faultOf(command: Command, pipelined: boolean): FlakyFault | undefined {
    const name = String(command[0]).toUpperCase();
    return this.#plan.take({ command, name, role: this.#role, pipelined });
  }

  #shifted(state: DriverState): DriverState {
    return { ...state, epoch: state.epoch + this.#losses };
  }

  /** Runs a call so that the loss of the connection ends it, wherever it stands, until it leaves. */
  #flight<T>(work: (leave: () => void) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => void this.#flying.delete(reject);
      this.#flying.add(reject);
      work(leave).then(resolve, reject).finally(leave);
    });
  }

  /** As a lane whose connection went and came back: all in flight fails, the epoch goes up. */
  #lose(leave: () => void): DriverFault {
    // The call that loses it tells by itself which of its parts are lost.
    leave();
    const fault = new DriverFault(
      "connection",
      "connection lost with a command in flight: planned",
    );
    for (const fail of this.#flying) fail(fault);
    this.#flying.clear();
    const { status } = this.#inner.state;
    if (status !== "ready") return fault;
    this.#tell({ ...this.state, status: "reconnecting", error: fault });
    this.#losses += 1;
    this.#tell(this.state);
    return fault;
  }

  #tell(state: DriverState): void {
    for (const listener of this.#listeners) listener(state);
  }
}

function refusalOf(fault: FlakyFault | undefined): DriverFault | undefined {
  if (fault?.kind === "offline") {
    return new DriverFault("offline", "no connection, nothing was sent: planned");
  }
  return fault?.kind === "answer" ? new DriverFault("reply", fault.text) : undefined;
}

function failed(error: Error): Settled<Reply> {
  return { ok: false, error };
}

async function waitFor(fault: FlakyFault): Promise<void> {
  if (fault.kind !== "delay" && fault.kind !== "late") return;
  if (fault.ms !== undefined) await sleep(fault.ms);
  await fault.until?.catch(() => undefined);
}

async function waitAll(
  faults: readonly (FlakyFault | undefined)[],
  kind: "delay" | "late",
): Promise<void> {
  await Promise.all(faults.map((fault) => (fault?.kind === kind ? waitFor(fault) : undefined)));
}
