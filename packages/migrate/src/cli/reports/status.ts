import { table, visible } from "@echomq/scripts/cli";
import { parseTombstone } from "@echomq/wire";
import type { StatusReport } from "../../phases/status.js";
import { counted } from "../../words.js";
import { arrow, firstOf } from "./parts.js";

/** Where a queue stands. */
export function stands(report: StatusReport): string[] {
  const { prefix, queue, q, run, clients, intruders, journal } = report;
  return [
    `  ${arrow(prefix, queue, q)}${run === null ? "" : `, run ${run}`}`,
    ...(report.followed
      ? ["  the run was started for that queue and prefix, not for those given"]
      : []),
    ...situation(report).map((line) => `  ${line}`),
    ...counts(report),
    ...(clients === null
      ? ["  the server does not tell which v1 clients are connected"]
      : clients.length === 0
        ? []
        : [
            `  ${counted(clients.length, "v1 client")} connected: ${firstOf(clients.map(({ name, address, kind }) => `${name || kind} at ${address}`))}`,
          ]),
    ...(intruders.length > 0 ? [`  written by v1 after the fence: ${firstOf(intruders)}`] : []),
    ...(journal?.updatedAt === undefined
      ? []
      : [`  journal: ${journal.phase ?? "-"}, ${visible(journal.updatedAt)}`]),
  ];
}

const MOVING: Readonly<Record<string, string>> = {
  fence: "closed for v1 and v2 clients; nothing is copied yet",
  copy: "closed for v1 and v2 clients; being copied",
  verify: "closed for v1 and v2 clients; copied, not verified",
  verified: "closed for v1 and v2 clients; verified, not committed",
  rollback: "closed for v1 and v2 clients; being given back to v1",
  remove: "closed for v1 and v2 clients; being removed from v2",
};

function situation(report: StatusReport): string[] {
  const { state, at, journal, v1Meta } = report;
  switch (state) {
    case "v1":
      if (at === "rollback") return ["back on v1; the rollback's journal is not closed"];
      return [at === "rolled-back" ? "back on v1, after a rollback" : "on v1; nothing has moved"];
    case "moving":
      return [MOVING[at ?? ""] ?? `closed for v1 and v2 clients, phase ${visible(at ?? "?")}`];
    case "done":
      return moved(report, journal);
    case "v2":
      return ["a queue of the v2 wire that no migration made"];
    case "empty":
      return ["there is no such queue, neither on v1 nor on v2"];
    case "intruded":
      return ["its stamp was deleted or overwritten: every client is refused until repair"];
    default: {
      const text = v1Meta.kind === "string" ? parseTombstone(v1Meta.text) : null;
      if (text === null) {
        return [
          "a key holds what neither EchoMQ nor v1 writes there: look at it",
          `the stamp emq:{${visible(report.q)}}:meta: ${content(report.stamp)}`,
          `v1's ${visible(`${report.prefix}:${report.queue}`)}:meta: ${content(v1Meta)}`,
        ];
      }
      const name = `emq:{${visible(text.q)}}`;
      return [
        `its tombstone says that it moved to ${name}, and no key stands there:`,
        "it was removed, or this is another server or database; delete the tombstone to use the name on v1 again",
      ];
    }
  }
}

function moved({ opened, purge }: StatusReport, journal: StatusReport["journal"]): string[] {
  if (journal !== null && journal.phase !== "committed") {
    return ["moved, but its journal is not closed, which keeps v2 clients out"];
  }
  const first =
    opened === null
      ? "moved; no v2 client has opened it yet: start v2 workers and producers"
      : `moved; first opened by v2${timeOf(opened)}`;
  const way = opened === null ? "rollback still gives it back" : "there is no way back";
  const kept: Readonly<Record<typeof purge, string>> = {
    none: `v1's keys are kept in its vault; ${way}`,
    begun: "v1's keys are being removed; there is no way back",
    done: `v1's keys were removed${journal?.purgedAt === undefined ? "" : ` at ${visible(journal.purgedAt)}`}; there is no way back`,
  };
  return [first, kept[purge]];
}

/** What stands in a key, in words. */
function content(found: StatusReport["stamp"]): string {
  switch (found.kind) {
    case "none":
      return "nothing";
    case "string":
      return `the text ${visible(JSON.stringify(found.text))}`;
    case "hash":
      return `a hash of version ${visible(String(found.version))}`;
    default:
      return `a ${found.type}`;
  }
}

/** A time that somebody may have written over. */
function timeOf(ms: string): string {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? "" : ` at ${date.toISOString()}`;
}

/** Members per state, on the wires that hold any. */
function counts({ state, purge, counts: all }: StatusReport): string[] {
  const v1 = purge === "none" && state !== "v2";
  const v2 = state === "moving" || state === "done" || state === "v2";
  const rows = Object.entries(all).filter(([, each]) => (v1 && each.v1 > 0) || (v2 && each.v2 > 0));
  if (rows.length === 0) return state === "v1" || v2 ? ["  no jobs"] : [];
  return [
    table([
      ["state", ...(v1 ? ["v1"] : []), ...(v2 ? ["v2"] : [])],
      ...rows.map(([name, each]) => [name, ...(v1 ? [each.v1] : []), ...(v2 ? [each.v2] : [])]),
    ]),
  ];
}
