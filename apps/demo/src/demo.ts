import { setTimeout as sleep } from "node:timers/promises";
import type { Ending } from "./check/tally.js";
import { Cleanup } from "./cleanup.js";
import { Interruption } from "./interruption.js";
import type { DemoOptions } from "./options.js";
import { openStage } from "./stage.js";
import { tell } from "./story.js";
import { View } from "./view/view.js";

/** How long an interrupted act may take to let go of what it does. */
const LET_GO_MS = 3_000;

/** Runs the demo to its end; gives the exit status. What it started is ended, whatever happens. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const view = new View(process.stdout, options.color);
  const interruption = new Interruption(process.stdout);
  const cleanup = new Cleanup();
  const { signal } = interruption;
  let story: Promise<Ending> | undefined;
  let ending: Ending;
  try {
    const stage = await openStage({ options, view, cleanup, signal });
    // Runs before the keys are removed: nothing may be written after that.
    cleanup.defer(async () => Promise.race([story?.catch(() => undefined), letGo(signal)]));
    story = tell(stage);
    ending = await Promise.race([story, interruption.happened]);
  } catch (error) {
    if (!signal.aborted) {
      view.bad(error instanceof Error ? error.message : String(error));
    }
    const line = signal.aborted ? "demo: interrupted" : "demo: it did not come to its end";
    ending = { line, exit: 1 };
  }
  if (signal.aborted) view.mute("interrupted: ending what was started");
  const failures = await cleanup.run();
  for (const failure of failures) view.line(`clean-up: ${failure}`);
  view.line("");
  view.line(ending.line);
  interruption.end();
  // An act that was interrupted may still hold a timer or a socket.
  if (signal.aborted) process.exit(interruption.exit);
  return failures.length > 0 ? 1 : ending.exit;
}

async function letGo(signal: AbortSignal): Promise<void> {
  if (signal.aborted) await sleep(LET_GO_MS);
}
