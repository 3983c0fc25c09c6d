import type { Redis } from "ioredis";
import { type AclUser, setRules } from "./acl-user.js";

/** A user's rules with one right less. */
interface Narrowed {
  /** What was taken away, e.g. `+hset` or `emq:{q}:v2:wait r`. */
  readonly without: string;
  readonly rules: readonly string[];
}

/** Every way to take one command, one key, or one half of a key's rights from a user. */
export function* narrowed({ rules }: Pick<AclUser, "rules">): Generator<Narrowed> {
  const open = rules.findIndex((rule) => rule.startsWith("("));
  const root = open < 0 ? [...rules] : rules.slice(0, open);
  const selector =
    open < 0
      ? []
      : rules.slice(open).map((rule) => rule.replace(/^\(/, "").replace(/([^\]])\)$/, "$1"));
  const whole = (top: readonly string[], inner: readonly string[]): readonly string[] =>
    selector.length === 0 ? top : [...top, `(${inner.join(" ")})`];
  for (const [at, rule] of root.entries()) {
    const rest = [...root.slice(0, at), ...root.slice(at + 1)];
    if (/^(\+|~|%)/.test(rule)) yield { without: rule, rules: whole(rest, selector) };
    if (!rule.startsWith("~") || selector.length === 0) continue;
    for (const [half, sign] of [
      ["w", "%R"],
      ["r", "%W"],
    ] as const) {
      yield { without: `${half} of ${rule}`, rules: whole([...rest, sign + rule], selector) };
    }
  }
  for (const [at, rule] of selector.entries()) {
    const rest = [...selector.slice(0, at), ...selector.slice(at + 1)];
    yield { without: `(${rule})`, rules: whole(root, rest) };
  }
}

/** Which of these commands the server would refuse to the user. */
export async function refusals(
  admin: Redis,
  name: string,
  commands: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const asked = commands.map((command) => admin.call("ACL", "DRYRUN", name, ...command));
  const answers = await Promise.all(asked);
  return answers.flatMap((answer, at) =>
    String(answer) === "OK" ? [] : [`${commands[at]?.slice(0, 3).join(" ")}: ${String(answer)}`],
  );
}

/** The rights without which none of these commands would be refused. */
export async function unneeded(
  admin: Redis,
  user: AclUser,
  commands: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const { without, rules } of narrowed(user)) {
    await setRules(admin, user.name, rules);
    if ((await refusals(admin, user.name, commands)).length === 0) left.push(without);
  }
  await setRules(admin, user.name, user.rules);
  return left;
}
