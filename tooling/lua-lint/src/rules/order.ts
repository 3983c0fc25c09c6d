import { OVERWRITES, RAISE_BY_VALUE } from "../commands.js";
import { ALLOCATE_FIRST, FREE_FIRST } from "../config.js";
import type { LintOptions, Report } from "../finding.js";
import type { Step, Trace } from "../trace.js";

/** After these, or after a look that finds nothing, no wrong type can stand there. */
const ABSENT: ReadonlySet<string> = new Set(["DEL", "UNLINK", "EXISTS"]);

/** W5, W12 and the manifest's `writes`, path by path in source order. */
export function checkOrder(trace: Trace, options: LintOptions, report: Report): void {
  checkWrites(trace.steps, options, report);
  checkMemory(trace, options.name, report);
  checkRaises(trace, report);
}

function isWrite({ command }: Step): boolean {
  return command !== undefined && command.access !== "read";
}

function checkWrites(steps: readonly Step[], { writes }: LintOptions, report: Report): void {
  const found = steps.filter(isWrite);
  if (writes && found.length === 0) report("manifest", 1, "is marked as writing but never writes");
  if (writes) return;
  for (const { line, name } of found)
    report("manifest", line, `${name} writes in a reading script`);
}

/** W12: which memory rule the first write of each path meets. */
function checkMemory({ steps, before }: Trace, script: string, report: Report): void {
  steps.forEach((step, index) => {
    if (!decides(step) || before(index).some(decides)) return;
    const allocates = step.command?.access === "denyoom";
    if (FREE_FIRST.has(script) && allocates) {
      report("W12", step.line, `${step.name} is the first write, and maxmemory would refuse it`);
    }
    if (ALLOCATE_FIRST.has(script) && !allocates) {
      report("W12", step.line, `${step.name} is the first write, and maxmemory would let it pass`);
    }
  });
}

/** A refusal caught by pcall refuses nothing, so it decides nothing either. */
function decides(step: Step): boolean {
  return isWrite(step) && !(step.via === "pcall" && step.command?.access === "denyoom");
}

/** W5: after the first write no call meets a key whose type nothing has proven. */
function checkRaises({ steps, before }: Trace, report: Report): void {
  steps.forEach((step, index) => {
    const { command, line, name, via } = step;
    const earlier = before(index);
    if (!command || via === "pcall" || !earlier.some(isWrite)) return;
    const proven = new Set(earlier.flatMap(factsOf));
    for (const position of isTyped(step) ? positions(step) : []) {
      // Keys of groups are jobs' own; what stands there is settled per job.
      if (position === "*") continue;
      if (proven.has(`${command.type} ${position}`) || proven.has(`any ${position}`)) continue;
      report(
        "W5",
        line,
        `${name} may raise: nothing before the first write reads KEYS[${position}]`,
      );
    }
    if (RAISE_BY_VALUE.has(name)) {
      report("W5", line, `${name} may raise by what the key holds: use redis.pcall`);
    }
  });
}

function isTyped({ command, name }: Step): boolean {
  return command !== undefined && command.type !== "any" && !OVERWRITES.has(name);
}

function positions({ keys }: Step): readonly string[] {
  return keys.flatMap((operand) => [...operand.keys]);
}

/** What a step proves of its keys: their type, or that nothing of a wrong type stands there. */
function factsOf(step: Step): readonly string[] {
  const absent = ABSENT.has(step.name);
  if (!absent && !isTyped(step)) return [];
  return positions(step).map((position) => `${absent ? "any" : step.command?.type} ${position}`);
}
