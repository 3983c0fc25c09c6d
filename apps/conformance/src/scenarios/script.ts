import type { Context, Scenario } from "../context.js";
import { Broken, hold } from "../outcome.js";

async function flush(ctx: Context): Promise<string> {
  const queue = ctx.queue("flush");
  await queue.add("warm", {});
  const how = await forget(ctx);
  const from = ctx.seam.sent.length;
  try {
    const job = await queue.add("after", {});
    const ends = ctx.worker("flush", () => "done");
    await ends.all([job.id]);
  } finally {
    ctx.seam.rememberScripts();
  }
  return `${how}; ${reloads(ctx, from)} scripts were sent again by EVAL, each once, and the job completed`;
}

/** On a server that others use too, only this run's calls meet a server without scripts. */
async function forget(ctx: Context): Promise<string> {
  if (!ctx.ownServer) {
    ctx.seam.forgetScripts();
    return "each script's first call met NOSCRIPT (a shared server is not flushed)";
  }
  await ctx.tool.ask("SCRIPT", "FLUSH");
  return "SCRIPT FLUSH";
}

/** Counts the scripts that were unknown, and checks that one more command was enough for each. */
function reloads(ctx: Context, from: number): number {
  const window = ctx.seam.sent.slice(from);
  const missed = window.filter(({ error }) => error?.startsWith("NOSCRIPT "));
  const sources = window.filter(({ command }) => command[0] === "EVAL");
  hold(missed.length > 0, "the server knew every script after it had forgotten them");
  hold(
    missed.length === sources.length,
    `${missed.length} calls met NOSCRIPT, ${sources.length} were sent by EVAL`,
  );
  const bad = sources.find(({ error }) => error !== undefined);
  if (bad) throw new Broken(`EVAL after NOSCRIPT answered ${bad.error}`);
  return missed.length;
}

export const scriptScenarios: readonly Scenario[] = [
  { id: "script.flush", title: "A server that forgot the scripts is told them again", run: flush },
];
