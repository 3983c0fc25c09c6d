import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Line, Maker } from "./lines.js";

/** Where a v1 client looks. */
export interface Place {
  readonly prefix: string;
  /** As v1 spells it, braces included. */
  readonly queue: string;
  /** Whether the server is a node of a cluster. */
  readonly cluster?: boolean;
}

/** Ids that stand for a job in each state. */
export type KnownIds = Readonly<Record<string, string>>;

/** What became of one call. */
export interface VerbOutcome {
  readonly end: "returned" | "threw" | "pending";
  readonly value?: string;
  readonly error?: string;
  /** Jobs that reached the processor. */
  readonly worked: number;
  /** Events that reached a listener. */
  readonly heard: number;
  /** Errors told by events or left unhandled. */
  readonly errors: number;
  readonly messages: readonly string[];
}

/** What a line offers, by `<class>.<verb>`. */
export interface Surface {
  readonly calls: readonly string[];
  readonly skipped: readonly string[];
  readonly forgotten: readonly string[];
}

interface Answer {
  readonly seq: number;
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: string;
}

const CHILD = fileURLToPath(new URL("./child/main.mjs", import.meta.url));

/** A real v1 client of one line, in a process of its own. */
export class V1Client {
  readonly line: Line;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<number | null>;
  #stderr = "";
  #seq = 0;

  private constructor(line: Line, child: ChildProcess) {
    this.line = line;
    this.#child = child;
    child.stderr?.on("data", (text: Buffer) => {
      this.#stderr = (this.#stderr + text.toString()).slice(-4_000);
    });
    child.on("message", (answer: Answer) => {
      this.#waiting.get(answer.seq)?.(answer);
      this.#waiting.delete(answer.seq);
    });
    this.#ended = once(child, "exit").then(([code]: (number | null)[]) => {
      for (const settle of this.#waiting.values()) {
        settle({ seq: 0, ok: false, error: `the v1 process ended (${code}): ${this.#stderr}` });
      }
      return code ?? null;
    });
  }

  /**
   * Starts a line's client.
   * @param careful Whether it survives rejections nobody handles. Default true.
   */
  static async start(line: Line, port: number, careful = true): Promise<V1Client> {
    const args = [line.alias, String(port), careful ? "careful" : "careless"];
    // No loader of the test run: the child is plain JavaScript.
    const child = fork(CHILD, args, {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, NODE_OPTIONS: "", VITEST: "" },
    });
    const client = new V1Client(line, child);
    await new Promise<void>((resolve, reject) => {
      client.#waiting.set(0, ({ ok, error }) => (ok ? resolve() : reject(new Error(error))));
    });
    return client;
  }

  /** Makes a queue by one kind of client alone, and lets go of it. */
  async make(by: Maker, place: Place): Promise<void> {
    await this.#ask("make", { by, ...place });
  }

  /** Turns to a queue; `ready` makes every object now, as a program has that was there before. */
  async open(
    place: Place & {
      readonly ids?: KnownIds;
      readonly ready?: boolean;
      /** ACL user, whose password is its name. */
      readonly user?: string;
    },
  ): Promise<void> {
    await this.#ask("open", { ...place });
  }

  /** Tells the ids of the jobs that calls on a job are about. */
  async know(ids: KnownIds): Promise<void> {
    await this.#ask("ids", { ids });
  }

  async surface(): Promise<Surface> {
    return (await this.#ask("surface", {})) as Surface;
  }

  async verb(name: string): Promise<VerbOutcome> {
    return (await this.#ask("verb", { name })) as VerbOutcome;
  }

  /** Runs the body of an async function with `c`, the child's objects. */
  script(body: string): Promise<unknown> {
    return this.#ask("script", { body });
  }

  /** Closes the objects of the open queue. */
  async close(): Promise<void> {
    await this.#ask("close", {});
  }

  /** Exit code, once the process has ended by itself or by {@link stop}. */
  exited(): Promise<number | null> {
    return this.#ended;
  }

  /** What the process wrote on its standard error, the last 4 000 characters. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL");
    }
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #ask(ask: string, rest: object): Promise<unknown> {
    this.#seq += 1;
    const seq = this.#seq;
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, ({ ok, value, error }) => {
        if (ok) resolve(value);
        else reject(new Error(`bullmq ${this.line.version}: ${ask}: ${error}`));
      });
      if (this.#child.connected) this.#child.send({ seq, ask, ...rest });
      else this.#waiting.get(seq)?.({ seq, ok: false, error: "the v1 process has ended" });
    });
  }
}
