import { V1_PREFIXES } from "@echomq/scripts";
import { reserveKey, stampKey, UNITS, type Unit, unitKey } from "@echomq/wire";
import type { Tool } from "../connect/tool.js";
import { Misused, Refused } from "../outcome.js";
import type { Names } from "./names.js";

const PAGE = 1_000;
/** Most pages of one scan: beyond, the keys known by name must do. */
const PAGES = 2_000;

/** Removes `{emq}:version` where this run wrote it and no process needs it now. */
const UNDO_VERSION = `if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 0 then
  return redis.call('DEL', KEYS[1])
end
return 0`;

/** The keys of this run's queues: found without `KEYS`, removed at the end. */
export class OwnKeys {
  readonly #tool: Tool;
  readonly #names: Names;
  /** `{emq}:version` before the run; undefined where it could not be read. */
  #versionBefore: string | null | undefined;

  constructor(tool: Tool, names: Names) {
    this.#tool = tool;
    this.#names = names;
  }

  /**
   * Looks before anything is written.
   * @throws Misused when keys stand already at a queue name the run would use.
   */
  async begin(named: boolean): Promise<void> {
    const version = this.#tool.ask("GET", reserveKey("version"));
    this.#versionBefore = await version.then(
      (reply) => (reply === null ? null : String(reply)),
      () => undefined,
    );
    if (!named) return;
    const [taken] = await this.existing(this.#fixed());
    if (taken === undefined) return;
    throw new Misused(
      `--queue: ${taken} exists already; conformance works only on queues it makes itself, give another name`,
    );
  }

  /**
   * All keys of this run's queues that stand now, sorted.
   * @throws Refused where `SCAN` is not allowed.
   */
  async scan(): Promise<readonly string[]> {
    const found = new Set<string>();
    let cursor = "0";
    for (let page = 0; page < PAGES; page += 1) {
      const reply = await this.#tool.ask(
        "SCAN",
        cursor,
        "MATCH",
        this.#names.pattern,
        "COUNT",
        String(PAGE),
      );
      const [next, keys] = reply as unknown as readonly [string, readonly string[]];
      for (const key of keys) if (this.#names.owns(key)) found.add(key);
      cursor = next;
      if (cursor === "0") return [...found].sort();
    }
    throw new Refused("the server holds too many keys to look through them with SCAN");
  }

  /** Which of these keys exist. */
  async existing(keys: readonly string[]): Promise<readonly string[]> {
    const replies = await this.#tool.askEach(keys.map((key) => ["EXISTS", key]));
    return keys.filter((_, at) => replies[at] === 1);
  }

  /** Removes every key of this run's queues; `touched` are keys seen in use. Never another's. */
  async remove(touched: Iterable<string>): Promise<void> {
    const scanned = await this.scan().catch(() => []);
    const own = [...new Set([...this.#fixed(), ...touched, ...scanned])].filter((key) =>
      this.#names.owns(key),
    );
    await this.#tool.askEach(own.map((key) => ["DEL", key]));
    if (this.#versionBefore !== null) return;
    const [version, nodes] = [reserveKey("version"), reserveKey("nodes")];
    await this.#tool.ask("EVAL", UNDO_VERSION, "2", version, nodes, "echomq:2.0.0");
  }

  /** Keys that are known without looking. */
  #fixed(): string[] {
    const units = Object.keys(UNITS) as Unit[];
    return this.#names.all.flatMap((q) => [
      stampKey(q),
      ...units.map((unit) => unitKey(q, unit)),
      ...V1_PREFIXES.flatMap((prefix) => [`${prefix}:${q}:meta`, `${prefix}:{${q}}:meta`]),
    ]);
  }
}
