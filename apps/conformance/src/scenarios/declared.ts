import { refusesKey } from "../connect/refusal.js";
import type { Context, Scenario } from "../context.js";
import { declaredKeys } from "../keys/operands.js";
import { hold } from "../outcome.js";
import { list } from "./words.js";

async function declared(ctx: Context): Promise<string> {
  ctx.needTrip();
  let [scripts, commands] = [0, 0];
  for (const { command, keys, inside } of await ctx.sight.calls()) {
    if (declaredKeys(command) === null || inside.length === 0) continue;
    const may = new Set(keys);
    for (const one of inside) {
      const not = one.keys.filter((key) => !may.has(key));
      hold(not.length === 0, `${one.command[0]} of a script touched ${list(not)}, not in its KEYS`);
    }
    scripts += 1;
    commands += inside.length;
  }
  hold(scripts > 0, "MONITOR showed no script of this run");
  return `${scripts} script calls ran ${commands} commands, each on declared keys`;
}

async function strict(ctx: Context): Promise<string> {
  if (ctx.strictRefused) throw ctx.strictRefused;
  const refused = ctx.seam.sent.filter(({ error }) => error !== undefined && refusesKey(error));
  const [first] = refused;
  hold(
    first === undefined,
    `${refused.length} calls touched a key they do not declare, first ${first?.command[0]}: ${first?.error}`,
  );
  ctx.needTrip();
  return `${ctx.seam.sent.length} calls ran under users that may touch the keys of their call only`;
}

export const declaredScenarios: readonly Scenario[] = [
  { id: "keys.declared", title: "Scripts touch declared keys only", run: declared },
  {
    id: "keys.strict",
    title: "The server refuses every undeclared key, and has to refuse none",
    strict: true,
    run: strict,
  },
];
