import { type MonitorLine, parseMonitorLine, sourceOf } from "./line.js";

/** How the connections of a run tell the monitor who they are. */
export interface Tokens {
  /** Said by each lane that is judged. */
  readonly lane: string;
  /** Said by the runner's own lane. */
  readonly tool: string;
  /** Said by the runner's own lane when everything before it must have been seen. */
  readonly end: string;
}

/** A command of the run as the server saw it, and the commands its script ran. */
export interface SeenCall {
  readonly command: readonly string[];
  readonly inside: (readonly string[])[];
}

/** Keeps of the monitor's stream what this run's connections did; others' lines are not even parsed. */
export class MonitorRecord {
  readonly #tokens: Tokens;
  readonly #mentions: (text: string) => boolean;
  readonly #lanes = new Set<string>();
  readonly #tools = new Set<string>();
  readonly #lines: MonitorLine[] = [];
  /** Whether the script whose commands follow is ours. */
  #inScript = false;
  #ended = false;
  #onEnd: () => void = () => undefined;

  /** `mentions` tells whether a raw line names a queue of this run. */
  constructor(tokens: Tokens, mentions: (text: string) => boolean) {
    this.#tokens = tokens;
    this.#mentions = mentions;
  }

  /** Takes one line of the stream. */
  offer(text: string): void {
    const source = sourceOf(text);
    if (source === null) return;
    if (source === "lua") {
      if (this.#inScript) this.#keep(text);
      return;
    }
    this.#inScript = false;
    if (text.includes(this.#tokens.lane)) this.#lanes.add(source);
    else if (text.includes(this.#tokens.tool)) this.#tools.add(source);
    else if (text.includes(this.#tokens.end)) {
      this.#ended = true;
      this.#onEnd();
    } else if (this.#isOurs(source, text)) {
      this.#keep(text);
      this.#inScript = /^eval(?:sha)?(?:_ro)?$/i.test(this.#lines.at(-1)?.args[0] ?? "");
    }
  }

  /** Resolves once the end token was seen. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
      if (this.#ended) resolve();
    });
  }

  /** Everything the run's connections did, in the server's order. */
  calls(): readonly SeenCall[] {
    const calls: SeenCall[] = [];
    for (const { source, args } of this.#lines) {
      if (source === "lua") calls.at(-1)?.inside.push(args);
      else calls.push({ command: args, inside: [] });
    }
    return calls;
  }

  /** Every word of those commands; the keys of the run are among them. */
  words(): readonly string[] {
    return this.#lines.flatMap(({ args }) => args);
  }

  /** A connection that never introduced itself counts too when it names a queue only this run has. */
  #isOurs(source: string, text: string): boolean {
    return this.#lanes.has(source) || (!this.#tools.has(source) && this.#mentions(text));
  }

  #keep(text: string): void {
    const line = parseMonitorLine(text);
    if (line) this.#lines.push(line);
  }
}
