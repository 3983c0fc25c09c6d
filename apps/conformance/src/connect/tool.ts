import type { Command, RedisDriver, Reply } from "@echomq/scripts";
import { Refused } from "../outcome.js";
import { type DriverName, openDriver } from "./drivers.js";
import { refusalOf } from "./refusal.js";

const PAGE = 200;

/** The runner's own lane: what it asks, plants and removes is no part of what is judged. */
export class Tool {
  readonly #lane: RedisDriver;

  private constructor(lane: RedisDriver) {
    this.#lane = lane;
  }

  /**
   * Connects; `token` keeps the lane out of the monitor's record.
   * @throws DriverFault when the server cannot be reached.
   */
  static async open(driver: DriverName, url: string, token: string): Promise<Tool> {
    const lane = await openDriver(driver, url);
    await lane.command(["ECHO", token]).catch(() => undefined);
    return new Tool(lane);
  }

  /**
   * Sends one command.
   * @throws Refused naming the command whose right is missing, DriverFault for other trouble.
   */
  async ask(...command: readonly string[]): Promise<Reply> {
    try {
      return await this.#lane.command(command);
    } catch (error) {
      throw asRefused(command, error);
    }
  }

  /**
   * Sends commands in pipelines; each outcome is the reply or the error.
   * @throws Refused as {@link ask}.
   */
  async askEach(commands: readonly Command[]): Promise<readonly (Reply | Error)[]> {
    const out: (Reply | Error)[] = [];
    for (let at = 0; at < commands.length; at += PAGE) {
      const page = commands.slice(at, at + PAGE);
      const settled = await this.#lane.pipeline(page);
      for (const [n, one] of settled.entries()) {
        if (one.ok) out.push(one.value);
        else {
          const error = asRefused(page[n] ?? [], one.error);
          if (error instanceof Refused) throw error;
          out.push(error);
        }
      }
    }
    return out;
  }

  /** Whether the server still answers. Never rejects. */
  async alive(): Promise<boolean> {
    const gone = new Promise<false>((resolve) => setTimeout(resolve, 2_000, false).unref());
    // Any reply is an answer, a refusal too.
    const said = this.#lane.command(["PING"]).then(
      () => true,
      (error: unknown) => refusalOf(error) !== null,
    );
    return Promise.race([said, gone]);
  }

  async close(): Promise<void> {
    await this.#lane.close("now");
  }
}

function asRefused(command: Command, error: unknown): Error {
  const text = refusalOf(error);
  if (text !== null) return new Refused(`no right to ${String(command[0])}: ${text}`);
  return error instanceof Error ? error : new Error(String(error));
}
