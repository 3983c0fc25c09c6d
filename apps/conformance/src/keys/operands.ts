import type { Tool } from "../connect/tool.js";

const SCRIPT = /^(?:eval|evalsha)(?:_ro)?$/i;

/** Finds the key operands of commands; what a command's keys are, the server itself says. */
export class Operands {
  readonly #tool: Tool;
  readonly #known = new Map<string, readonly string[]>();

  constructor(tool: Tool) {
    this.#tool = tool;
  }

  /**
   * The keys of each command, in order.
   * @throws Refused where `COMMAND GETKEYS` is not allowed.
   */
  async of(commands: readonly (readonly string[])[]): Promise<readonly (readonly string[])[]> {
    const asked = new Map<string, readonly string[]>();
    for (const command of commands) {
      const text = JSON.stringify(command);
      // A command without arguments has no keys, and the server does not like to be asked.
      const plain = command.length > 1 && !SCRIPT.test(command[0] ?? "");
      if (plain && !this.#known.has(text)) asked.set(text, command);
    }
    const list = [...asked.values()].map((command) => ["COMMAND", "GETKEYS", ...command]);
    const replies = await this.#tool.askEach(list);
    [...asked.keys()].forEach((text, at) => {
      this.#known.set(text, keysIn(text, replies[at]));
    });
    return commands.map(
      (command) => declaredKeys(command) ?? this.#known.get(JSON.stringify(command)) ?? [],
    );
  }
}

/** The declared keys of a script's call, or null for another command. */
export function declaredKeys(command: readonly string[]): readonly string[] | null {
  if (!SCRIPT.test(command[0] ?? "")) return null;
  return command.slice(3, 3 + Number(command[2]));
}

function keysIn(command: string, reply: unknown): readonly string[] {
  if (Array.isArray(reply)) return reply.map(String);
  if (reply instanceof Error && /no key arguments/i.test(reply.message)) return [];
  throw new Error(
    `the server does not say what the keys of ${command.slice(0, 80)} are: ${String(reply)}`,
  );
}
