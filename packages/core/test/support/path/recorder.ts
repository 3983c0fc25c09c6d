import * as scripts from "@echomq/scripts";
import {
  type Command,
  isDriverFault,
  type RedisDriver,
  type Route,
  type Script,
  type ScriptName,
  SPECS,
} from "@echomq/scripts";
import type { WireCode } from "@echomq/wire";

/** A script and the class it refuses with, of the whole call or of one item. */
export type Refusal = `${ScriptName} ${WireCode}`;

/** Names of every script of the registry. */
export const NAMES: readonly ScriptName[] = Object.keys(SPECS) as ScriptName[];

/** Any of the scripts by its name. */
export function scriptOf(name: ScriptName): Script {
  return Reflect.get(scripts, `${name}Script`) as Script;
}

const BY_TEXT = new Map(
  NAMES.flatMap((name) => [
    [scriptOf(name).sha, name] as const,
    [scriptOf(name).source, name] as const,
  ]),
);

/** Every class that the text of a script refuses with, but those that all have. */
export function refusalsOf(name: ScriptName): Refusal[] {
  const found = scriptOf(name).source.matchAll(/'(EMQ[A-Z]+) /g);
  const classes = new Set([...found].map(([, code]) => code as WireCode));
  return [...classes]
    .filter((code) => code !== "EMQARG" && code !== "EMQFENCE")
    .map((code): Refusal => `${name} ${code}`);
}

/** Notes which scripts ran over a driver, and what they refused. */
export class Recorder {
  readonly scripts: Set<ScriptName> = new Set();
  readonly refusals: Set<Refusal> = new Set();

  /** The same driver, whose calls and whose lanes' calls are noted. */
  watch(driver: RedisDriver): RedisDriver {
    return new Proxy(driver, {
      get: (target, name) => {
        if (name === "fork") {
          return async (...args: Parameters<RedisDriver["fork"]>) =>
            this.watch(await target.fork(...args));
        }
        if (name === "command") {
          return (args: Command, route?: Route) => this.#note(args, target.command(args, route));
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #note<T>([, text]: Command, answer: Promise<T>): Promise<T> {
    const name = BY_TEXT.get(String(text));
    if (name === undefined) return answer;
    this.scripts.add(name);
    try {
      const reply = await answer;
      this.#refused(name, reply);
      return reply;
    } catch (error) {
      if (isDriverFault(error, "reply")) this.#refused(name, error.message);
      throw error;
    }
  }

  /** Statuses of a batch stand somewhere in its reply. */
  #refused(name: ScriptName, reply: unknown): void {
    if (Array.isArray(reply)) for (const one of reply) this.#refused(name, one);
    const [, code] = /^(EMQ[A-Z]+) /.exec(typeof reply === "string" ? reply : "") ?? [];
    if (code !== undefined) this.refusals.add(`${name} ${code as WireCode}`);
  }
}
