import { fenceRead, V1_PREFIXES } from "@echomq/scripts";
import { KINDS, parseKey, stampKey, UNITS, unitKey, WIRE_VERSION } from "@echomq/wire";
import type { Context, Scenario } from "../context.js";
import { hold } from "../outcome.js";
import type { KeyedCall } from "../sight.js";
import { list } from "./words.js";

/** Commands that take several keys and only read whether something is there. */
const PROBES = new Set(["GET", "HGET", "EXISTS"]);

async function shape(ctx: Context): Promise<string> {
  ctx.needTrip();
  const keys = await ctx.keys.scan();
  const own = keys.filter((key) => key.startsWith("emq:"));
  const planted = new Set(["v1-emq"].map((label) => stampKey(ctx.names.of(label as "v1-emq"))));
  const odd = own.filter((key) => parseKey(key).type === "unclassified" && !planted.has(key));
  hold(odd.length === 0, `keys of no known unit: ${list(odd)}`);
  const main = own.filter((key) => key.startsWith(`emq:{${ctx.names.of("main")}}:`));
  hold(main.length > 0, "the round trip left no key of its queue");
  const calls = await seen(ctx);
  const queues = new Set(ctx.names.all);
  const strange = [...touched(calls)].filter((key) => {
    const parts = parseKey(key);
    if (parts.type === "unclassified") return true;
    return "q" in parts && parts.q !== undefined && !queues.has(parts.q);
  });
  hold(strange.length === 0, `keys outside emq:{q}:* and {emq}: were touched: ${list(strange)}`);
  return `${own.length} keys stand and ${touched(calls).size} were touched; all are emq:{q}:* or {emq}:`;
}

async function oneTag(ctx: Context): Promise<string> {
  ctx.needTrip();
  const calls = (await seen(ctx)).filter(({ keys }) => keys.length > 0);
  for (const { command, keys, inside } of calls) {
    const all = [...keys, ...inside.flatMap((one) => one.keys)];
    const tags = new Set(all.map(tagOf));
    hold(tags.size === 1, `${command[0]} works on the tags ${list([...tags])}`);
  }
  return `${calls.length} calls, each with the keys of one hash tag`;
}

async function v1Untouched(ctx: Context): Promise<string> {
  ctx.needTrip();
  const probes = probesOf(ctx);
  const all = await ctx.sight.calls();
  let asked = 0;
  for (const { command, keys, inside } of all) {
    const met = [...keys, ...inside.flatMap((one) => one.keys)].filter(isV1);
    if (met.length === 0) continue;
    const probe = inside.length === 0 && probes.has(probeText(command));
    hold(probe, `${command[0]} touched ${list(met)}`);
    asked += 1;
  }
  hold(asked > 0, "the boot fence was not seen to look at the v1 prefixes");
  const made = await ctx.keys.existing(
    [...probes].map((text) => text.split(" ")[1] ?? "").filter((key) => isV1(key)),
  );
  const planted = `bull:${ctx.names.of("v1")}:meta`;
  const others = made.filter((key) => key !== planted);
  hold(others.length === 0, `keys stand at a v1 prefix: ${list(others)}`);
  return `${asked} reads of the boot fence, nothing else at ${V1_PREFIXES.join(", ")}`;
}

async function types(ctx: Context): Promise<string> {
  ctx.needTrip();
  const main = `emq:{${ctx.names.of("main")}}:`;
  const keys = (await ctx.keys.scan()).filter((key) => key.startsWith(main));
  hold(keys.length > 0, "the round trip left no key of its queue");
  const found = await ctx.tool.askEach(keys.map((key) => ["TYPE", key]));
  const units = new Set<string>();
  keys.forEach((key, at) => {
    const parts = parseKey(key);
    if (parts.type !== "stamp" && parts.type !== "unit" && parts.type !== "kind") return;
    const name = parts.type === "unit" ? parts.unit : parts.type === "kind" ? parts.kind : "stamp";
    const wanted =
      parts.type === "stamp"
        ? "string"
        : parts.type === "unit"
          ? UNITS[parts.unit].type
          : KINDS[parts.kind];
    hold(found[at] === wanted, `${key} is a ${String(found[at])}, the manifest says ${wanted}`);
    units.add(name);
  });
  return `${keys.length} keys of ${units.size} units have their type: ${[...units].sort().join(", ")}`;
}

async function stamp(ctx: Context): Promise<string> {
  ctx.needTrip();
  const q = ctx.names.of("main");
  const [text, copy] = [
    await ctx.tool.ask("GET", stampKey(q)),
    await ctx.tool.ask("HGET", unitKey(q, "meta"), "version"),
  ];
  hold(text === WIRE_VERSION, `the stamp is ${String(text)}, not ${WIRE_VERSION}`);
  hold(copy === WIRE_VERSION, `v2:meta version is ${String(copy)}, not ${WIRE_VERSION}`);
  return `stamp and v2:meta version are ${WIRE_VERSION}`;
}

async function reserveOnly(ctx: Context): Promise<string> {
  ctx.needTrip();
  const version = await ctx.tool.ask("GET", "{emq}:version");
  hold(
    version === null || version === WIRE_VERSION,
    `{emq}:version is ${String(version)}, not ${WIRE_VERSION}`,
  );
  const keys = [...touched(await ctx.sight.calls())].filter((key) => tagOf(key) === "emq");
  const odd = keys.filter((key) => parseKey(key).type !== "reserve");
  hold(odd.length === 0, `keys in the slot of the reserve that are not its own: ${list(odd)}`);
  const names = new Set(keys.map((key) => key.split(":")[1] ?? ""));
  return `of the reserve only ${[...names].sort().join(", ")} was touched`;
}

/** Everything the run did, without the boot fence's probes of v1 prefixes. */
async function seen(ctx: Context): Promise<readonly KeyedCall[]> {
  const probes = probesOf(ctx);
  const calls = await ctx.sight.calls();
  hold(calls.length > 0, "MONITOR showed nothing of this run");
  return calls.filter(({ command }) => !probes.has(probeText(command)));
}

function touched(calls: readonly KeyedCall[]): ReadonlySet<string> {
  return new Set(
    calls.flatMap(({ keys, inside }) => [...keys, ...inside.flatMap((one) => one.keys)]),
  );
}

/** The fence's reads at v1 prefixes, as text; the ones at wire keys are ordinary calls. */
function probesOf(ctx: Context): ReadonlySet<string> {
  const commands = ctx.names.all.flatMap((q) =>
    fenceRead(q).commands.map((args) => args.map(String)),
  );
  return new Set(
    commands.filter(([name, key = ""]) => PROBES.has(name ?? "") && isV1(key)).map(probeText),
  );
}

function probeText(command: readonly string[]): string {
  return [command[0]?.toUpperCase(), ...command.slice(1)].join(" ");
}

/** A key where a v1 client would have it: nothing of the wire, under a v1 prefix. */
function isV1(key: string): boolean {
  // No v1 client makes a key below the segment of the wire.
  if (parseKey(key).type !== "unclassified" || /^emq:\{[^{}]*\}:v2:/.test(key)) return false;
  return V1_PREFIXES.some((prefix) => key.startsWith(`${prefix}:`));
}

/** The part of a key that chooses its slot on a cluster. */
function tagOf(key: string): string {
  const open = key.indexOf("{");
  const close = open === -1 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}

/** What stands in the keyspace after the round trips, and what was touched on the way. */
export const keyspaceScenarios: readonly Scenario[] = [
  { id: "keyspace.shape", title: "Only emq:{q}:* and {emq}: are used", run: shape },
  { id: "keyspace.one-tag", title: "Each call works on one hash tag", run: oneTag },
  { id: "v1.untouched", title: "v1 prefixes are only probed by the boot fence", run: v1Untouched },
  { id: "wire.types", title: "Each key has its manifest type", run: types },
  { id: "stamp.version", title: "Stamp and v2:meta carry the wire's version", run: stamp },
  { id: "reserve.only", title: "The reserve holds its own keys only", run: reserveOnly },
];
