import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "./child/child.js";
import type { Crew } from "./crew.js";
import type { Fault, Who } from "./plan.js";
import type { Stage } from "./stage.js";
import type { Window, Windows } from "./windows.js";

/** Hurts what the plan says, and notes when. Faults of one thing come one after the other. */
export class Faults {
  readonly #stage: Stage;
  readonly #crew: Crew;
  readonly #windows: Windows;
  readonly #say: (line: string) => void;
  readonly #lines = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  #over = false;

  constructor(stage: Stage, crew: Crew, windows: Windows, say: (line: string) => void) {
    this.#stage = stage;
    this.#crew = crew;
    this.#windows = windows;
    this.#say = say;
  }

  /** Begins a fault; it may go on for a while. */
  begin(fault: Fault): void {
    const work = this.#do(fault).catch((error: unknown) => {
      this.#say(`fault ${fault.kind} failed: ${(error as Error).message}`);
    });
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Waits until nothing is hurt any more. */
  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#running);
  }

  #do(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case "kill":
        return this.#kill(fault.who, fault.nth);
      case "stop":
        return this.#hang(fault.who, fault.nth, fault.ms);
      case "deploy":
        return this.#deploy(fault.nth, fault.ms);
      case "clock": {
        const child = this.#crew.pick(fault.who, fault.nth);
        this.#say(`clock of ${child.name} by ${fault.ms} ms`);
        child.tell({ type: "shift", ms: fault.ms });
        return Promise.resolve();
      }
      case "pauseWorker":
        return this.#pauseWorker(fault.nth, fault.ms);
      case "clientKill":
        return this.#clientKill(fault.role);
      case "flush":
        this.#say("SCRIPT FLUSH");
        return this.#stage.control.script("FLUSH").then(() => undefined);
      case "cut":
      case "halfOpen":
      case "dropReplies":
      case "slow":
        return this.#inLine("net", () => this.#net(fault));
      case "restart":
      case "freeze":
      case "full":
        return this.#inLine("server", () => this.#server(fault));
      default:
        return this.#inLine(fault.kind, () => this.#steer(fault));
    }
  }

  /** One after the other; none begins once all is to end. */
  #inLine(name: string, work: () => Promise<void>): Promise<void> {
    const before = this.#lines.get(name) ?? Promise.resolve();
    const next = before.then(() => (this.#over ? undefined : work()));
    this.#lines.set(
      name,
      next.catch(() => undefined),
    );
    return next;
  }

  async #kill(role: Who, nth: number): Promise<void> {
    const child = this.#crew.pick(role, nth);
    const window = this.#windows.open("kill", child.name);
    this.#say(`kill -9 ${child.name}`);
    const next = this.#crew.replace(child);
    await child.kill();
    this.#close(window);
    await next.ready;
  }

  async #hang(role: Who, nth: number, ms: number): Promise<void> {
    const child = this.#crew.pick(role, nth);
    if (!child.alive || child.stopped) return;
    this.#say(`stop ${child.name} for ${ms} ms`);
    const window = this.#windows.open("stop", child.name);
    child.hang(true);
    await sleep(ms);
    child.hang(false);
    this.#close(window);
  }

  /** A worker is replaced as a deploy does it: the new one is up before the old one closes. */
  async #deploy(nth: number, ms: number): Promise<void> {
    const child = this.#crew.pick("worker", nth);
    this.#say(`deploy: ${child.name} closes within ${ms} ms`);
    const window = this.#windows.open("deploy", child.name);
    await this.#crew.replace(child).ready;
    await this.retire(child, ms);
    this.#close(window);
  }

  /** Ends a child by itself; one that hangs on is told and killed. */
  async retire(child: Child, ms: number): Promise<void> {
    child.tell({ type: "close", ms });
    const late = sleep(ms + CLOSE_MS, false, { ref: false });
    if (await Promise.race([child.ended.then(() => true), late])) return;
    this.#windows.open("hung", child.name);
    this.#say(`FOUND ${child.name} has not ended ${ms + CLOSE_MS} ms after it was told to`);
    this.hung.push(child.name);
    await child.kill();
  }

  /** Children that did not end by themselves. */
  readonly hung: string[] = [];

  async #pauseWorker(nth: number, ms: number): Promise<void> {
    const child = this.#crew.pick("worker", nth);
    this.#say(`pause ${child.name} for ${ms} ms`);
    child.tell({ type: "pause" });
    await sleep(ms);
    child.tell({ type: "resume" });
  }

  async #clientKill(role: string): Promise<void> {
    const list = String(await this.#stage.control.client("LIST"));
    const lanes = list.split("\n").filter((line) => {
      const name = /(?:^| )name=(\S*)/.exec(line)?.[1] ?? "";
      return name.startsWith("echomq:") && (role === "all" || name.endsWith(`:${role}`));
    });
    this.#say(`CLIENT KILL of ${lanes.length} connections (${role})`);
    const window = this.#windows.open("clientKill");
    for (const line of lanes) {
      const id = /(?:^| )id=(\d+)/.exec(line)?.[1] ?? "";
      await this.#stage.control.client("KILL", "ID", id);
    }
    this.#close(window);
  }

  async #net(
    fault: Extract<Fault, { kind: "cut" | "halfOpen" | "dropReplies" | "slow" }>,
  ): Promise<void> {
    const { proxy } = this.#stage;
    const window = this.#windows.open(fault.kind);
    if (fault.kind === "cut") {
      this.#say(`cut ${proxy.connections} connections`);
      proxy.cut();
    } else if (fault.kind === "dropReplies") {
      this.#say(`drop ${fault.count} replies`);
      const dropped = proxy.dropReplies(fault.count);
      await Promise.race([dropped, sleep(2_000, undefined, { ref: false })]);
      proxy.pass();
    } else {
      const { ms } = fault;
      if (fault.kind === "slow") {
        this.#say(`hold every packet back by ${fault.lag} ms for ${ms} ms`);
        proxy.delay(fault.lag);
      } else {
        this.#say(`half-open (${fault.way}) for ${ms} ms`);
        proxy.halfOpen(fault.way);
      }
      await sleep(ms);
      proxy.pass();
    }
    this.#close(window);
  }

  async #server(fault: Extract<Fault, { kind: "restart" | "freeze" | "full" }>): Promise<void> {
    const { server, control } = this.#stage;
    const window = this.#windows.open(fault.kind);
    if (fault.kind === "restart") {
      this.#say(`server: ${fault.how}, back after ${fault.ms} ms`);
      await server.kill(fault.how);
      await sleep(fault.ms);
      await server.restart();
    } else if (fault.kind === "freeze") {
      this.#say(`server stands still for ${fault.ms} ms`);
      await server.kill("SIGSTOP");
      await sleep(fault.ms);
      await server.kill("SIGCONT");
    } else {
      this.#say(`server is full for ${fault.ms} ms`);
      await control.config("SET", "maxmemory", "1");
      await sleep(fault.ms);
      await control.config("SET", "maxmemory", "0");
    }
    this.#close(window);
  }

  async #steer(
    fault: Extract<Fault, { kind: "pauseQueue" | "rate" | "hold" | "concurrency" }>,
  ): Promise<void> {
    const { queue } = this.#stage;
    if (fault.kind === "pauseQueue") {
      this.#say(`pause the queue for ${fault.ms} ms`);
      await queue.pause();
      await sleep(fault.ms);
      await queue.resume();
    } else if (fault.kind === "rate") {
      this.#say(`${fault.max} jobs in ${fault.duration} ms, for ${fault.ms} ms`);
      await queue.setGlobalRateLimit(fault.max, fault.duration);
      await sleep(fault.ms);
      await queue.removeGlobalRateLimit();
    } else if (fault.kind === "hold") {
      this.#say(`hold the queue for ${fault.ms} ms`);
      await queue.rateLimit(fault.ms);
    } else {
      this.#say(`${fault.most} jobs at once, for ${fault.ms} ms`);
      await queue.setGlobalConcurrency(fault.most);
      await sleep(fault.ms);
      await queue.setGlobalConcurrency(null);
    }
  }

  #close(window: Window): void {
    window.to = Date.now();
  }
}

/** How long after its own timeout a closing process may take to end, in ms. */
const CLOSE_MS = 15_000;
