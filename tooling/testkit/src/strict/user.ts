import { randomBytes } from "node:crypto";
import type { Arg } from "@echomq/scripts";
import { type Redis, ReplyError } from "ioredis";
import { openClient } from "../client.js";
import { keyRule } from "./escape.js";

/** A server user that may run every command, on the keys of one call. */
export class StrictUser {
  readonly url: string;
  readonly #name: string;
  readonly #password: string;
  readonly #admin: Redis;

  private constructor(admin: Redis, url: string) {
    this.#admin = admin;
    this.#name = `echomq-strict-${randomBytes(8).toString("hex")}`;
    this.#password = randomBytes(16).toString("hex");
    const own = new URL(url);
    own.username = this.#name;
    own.password = this.#password;
    this.url = own.href;
  }

  /**
   * Makes a user without rights to any key.
   * @throws Error where the server does not let this client manage users.
   */
  static async create(url: string): Promise<StrictUser> {
    const user = new StrictUser(await openClient(url, "echomq-strict"), url);
    try {
      await user.#make();
    } catch (error) {
      user.#admin.disconnect();
      throw new Error(`strict mode needs the right to run ACL SETUSER: ${String(error)}`);
    }
    // A server that restarted has forgotten the user.
    user.#admin.on("ready", () => void user.#make().catch(() => undefined));
    return user;
  }

  /** Allows exactly these keys from now on. */
  async allow(keys: readonly Arg[]): Promise<void> {
    try {
      await this.#admin.call("ACL", "SETUSER", this.#name, "resetkeys", ...keys.map(keyRule));
    } catch (error) {
      // With the server gone, the call itself is to fail the way its own client fails.
      if (error instanceof ReplyError) throw error;
    }
  }

  /** Removes the user, which also ends its connections. */
  async remove(): Promise<void> {
    await this.#admin.call("ACL", "DELUSER", this.#name).catch(() => undefined);
    this.#admin.disconnect();
  }

  async #make(): Promise<void> {
    const rules = ["reset", "on", `>${this.#password}`, "+@all", "allchannels"];
    await this.#admin.call("ACL", "SETUSER", this.#name, ...rules);
  }
}
