import { CASES } from "../cases.js";
import type { Result, Results } from "../results.js";
import type { Machine } from "./machine.js";

/** The page part: what it ran on, then the table with the marks to hold. */
export function markdown(machine: Machine, { results, unavailable }: Results): string {
  const rounds = results[0]?.rounds ?? 0;
  const lines = [
    `Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}.`,
    `Versions: EchoMQ ${machine.echomq}, \`${machine.peer.replace(" ", "@")}\`, Redis ${machine.redis} ` +
      `(loopback, no persistence), ioredis ${machine.ioredis}, Node ${machine.node}.`,
    `Rounds: ${rounds}, both libraries in each, in turned order. Ratios are taken within a round and ` +
      "above 1 where EchoMQ is better; shown are their median and quartiles.",
    "",
    "| case | what | EchoMQ | BullMQ | unit | ratio | quartiles | hold | lower quartile holds |",
    "|---|---|--:|--:|---|--:|--:|--:|---|",
  ];
  for (const { id, what, hold } of CASES) {
    const result = results.find((one) => one.id === id);
    const missing = unavailable.find((one) => one.id === id);
    if (!result && !missing) continue;
    const found = result ? cells(result) : [`not available: ${missing?.why}`, "", "", "", ""];
    const holds = result ? (result.low >= hold ? "yes" : "no") : "";
    lines.push(`| ${[`\`${id}\``, what, ...found, hold, holds].join(" | ")} |`);
  }
  return `${lines.join("\n")}\n`;
}

function cells({ ours, peer, unit, ratio, low, high }: Result): string[] {
  const quartiles = `${low.toFixed(2)} to ${high.toFixed(2)}`;
  return [number(ours), number(peer), unit, ratio.toFixed(2), quartiles];
}

/** Three digits that matter; large numbers whole, in groups. */
function number(value: number): string {
  if (value < 100) return value.toPrecision(3);
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
}
