import { WIRE_VERSION } from "@echomq/wire";
import {
  DIGITS,
  layoutOf,
  type RowLayout,
  SMALL,
} from "../../../packages/scripts/src/registry/layout.js";
import type { ArgSpec, KeyName, ScriptSpec } from "../../../packages/scripts/src/registry/spec.js";

/** Largest whole number that a double holds exactly with all below it. */
const MOST = "9007199254740991";

/** Lua local for a fixed key: `waiting-children` becomes `waiting_children`. */
export function luaName(name: KeyName | string): string {
  return name.replace(/^reserve:/, "").replaceAll(/[^A-Za-z0-9]/g, "_");
}

/**
 * The head of a bundled script, written from its data: fence first, then every argument decoded and
 * checked, so no body can forget either. It runs with every call, so what `body` never uses is left out:
 * a closure costs as much as a small command.
 */
export function prologue(spec: ScriptSpec, body: string): string {
  const lines = [fence(spec), locals(spec), ...singles(spec, body), ...places(spec, body)];
  return [...lines, ...checks(spec, body)].join("\n");
}

function fence(spec: ScriptSpec): string {
  const key = luaName(spec.keys[0] ?? "stamp");
  const read = `local unpack = unpack or table.unpack
local ${key} = KEYS[1]
local found_version = redis.pcall('GET', ${key})`;
  const refuse = `  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end`;
  const major = `found_version == '${WIRE_VERSION}' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.'`;
  if (spec.fence === "migration") return `local unpack = unpack or table.unpack`;
  const allow = spec.fence === "step" ? "" : "found_version ~= false and ";
  return `${read}
if ${allow}not (${major}) then
${refuse}`;
}

function locals(spec: ScriptSpec): string {
  const first = spec.fence === "migration" ? 0 : 1;
  const rest = spec.keys.slice(first);
  if (rest.length === 0) return "";
  const names = rest.map(luaName).join(", ");
  return `local ${names} = ${rest.map((_, at) => `KEYS[${at + 1 + first}]`).join(", ")}`;
}

function singles(spec: ScriptSpec, body: string): string[] {
  const { single } = layoutOf(spec);
  const least = leastOf(spec);
  const before = least - single.length;
  if (least === 0) return ["local bad"];
  return [
    `if #ARGV < ${least} then return redis.error_reply('EMQARG arguments') end`,
    "local bad",
    ...smalls(spec, body),
    ...wholes(single, before),
    ...single.flatMap((arg, at) => singleOf(arg, at + before, body)),
  ];
}

/** How many arguments come before the rows. */
function leastOf(spec: ScriptSpec): number {
  const { small, single } = layoutOf(spec);
  return single.length + (small.length > 0 ? 1 : 0);
}

function localOf(spec: ScriptSpec, { name }: ArgSpec): string {
  const counted = [...spec.groups, ...spec.tables].some((list) => list.name === name);
  return counted ? `${name}_n` : luaName(name);
}

/** Small numbers, out of the digits of the argument they share: a string for each costs much more. */
function smalls(spec: ScriptSpec, body: string): string[] {
  const { small } = layoutOf(spec);
  if (small.length === 0) return [];
  const names = small.map((arg) => localOf(spec, arg));
  const bytes = small.map((_, at) =>
    Array.from({ length: DIGITS }, (_, n) => `b${at * DIGITS + n}`),
  );
  const zero = "0".charCodeAt(0);
  const off = Array.from({ length: DIGITS }, (_, n) => zero * 10 ** n).reduce((a, b) => a + b);
  const values = bytes.map(
    (digits) =>
      `${digits.map((b, n) => `${b}${n < DIGITS - 1 ? ` * ${10 ** (DIGITS - 1 - n)}` : ""}`).join(" + ")} - ${off}`,
  );
  return [
    `if #ARGV[1] ~= ${small.length * DIGITS} or not string.find(ARGV[1], '^%d+$') then`,
    "  return redis.error_reply('EMQARG numbers')",
    "end",
    `local ${names.join(", ")}`,
    "do",
    `  local ${bytes.flat().join(", ")} = string.byte(ARGV[1], 1, ${small.length * DIGITS})`,
    ...values.map((value, at) => `  ${names[at]} = ${value}`),
    "end",
    ...small.flatMap(({ name, most = SMALL }, at) => [
      ...(most < SMALL ? [`if ${names[at]} > ${most} then bad = bad or '${name}' end`] : []),
      ...smallText(names[at] as string, at, body),
    ]),
  ];
}

/** A small number as text for a command, which takes no leading zeros. */
function smallText(local: string, at: number, body: string): string[] {
  if (!body.includes(`${local}_text`)) return [];
  const last = (at + 1) * DIGITS;
  const from = `${local} > 99 and ${last - 2} or ${local} > 9 and ${last - 1} or ${last}`;
  return [`local ${local}_text = string.sub(ARGV[1], ${from}, ${last})`];
}

/** Whole numbers with a place of their own, looked at together: a look at each costs twice as much. */
function wholes(single: readonly ArgSpec[], before: number): string[] {
  const whole = single.flatMap(({ type, name }, at) =>
    type === "int" ? [{ at: at + 1 + before, name }] : [],
  );
  if (whole.length === 0) return [];
  const text = whole.map(({ at }) => `ARGV[${at}]`).join(" .. ' ' .. ");
  const pattern = `^${whole.map(() => "%d+").join(" ")}$`;
  const names = whole.map(({ at, name }) => `{ ${at}, '${name}' }`).join(", ");
  return [
    `if not string.find(${text}, '${pattern}') then`,
    `  for _, arg in ipairs({ ${names} }) do`,
    "    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end",
    "  end",
    "  return redis.error_reply('EMQARG ' .. bad)",
    "end",
  ];
}

function singleOf({ name, type, most }: ArgSpec, at: number, body: string): string[] {
  const local = luaName(name);
  const lines = [`local ${local} = ARGV[${at + 1}]${type === "int" ? " + 0" : ""}`];
  if (type === "int") lines.push(`if ${local} > ${most ?? MOST} then bad = bad or '${name}' end`);
  if (!body.includes(`${local}_text`)) return lines;
  // As it came, since a number is written out anew for each command; so it must come as it would be written.
  lines.push(
    `local ${local}_text = ARGV[${at + 1}]`,
    `if ${local} < 10 ^ (#${local}_text - 1) and ${local}_text ~= '0' then bad = bad or '${name}' end`,
  );
  return lines;
}

function places(spec: ScriptSpec, body: string): string[] {
  const lines: string[] = [];
  let keysAt = String(spec.keys.length);
  for (const group of spec.groups) {
    const width = group.kinds === "raw" ? 1 : group.kinds.length;
    lines.push(`local ${group.name}_at, ${group.name}_w = ${keysAt}, ${width}`);
    keysAt = `${group.name}_at + ${group.name}_n * ${group.name}_w`;
    if (group.kinds !== "raw" && spec.keys[0] === "stamp") {
      // The stamp is `emq:{q}:meta`: without its last four characters it is the queue's prefix.
      const kind = group.kinds[0] ?? "job";
      lines.push(`local ${group.name}_id = #stamp - 4 + #'v2:${kind}:' + 1`);
    }
  }
  const { rows } = layoutOf(spec);
  let argsAt = String(leastOf(spec));
  for (const { name, numbers, cells, width } of rows) {
    lines.push(`local ${name}_base, ${name}_w = ${argsAt}, ${width}`);
    if (body.includes(`${name}(`)) {
      lines.push(`local function ${name}(row) return ${name}_base + (row - 1) * ${name}_w end`);
    }
    argsAt = `${name}_base + ${name}_n * ${name}_w`;
    const before = numbers.length > 0 ? [`${name}_numbers`] : [];
    lines.push(placed([...before, ...cells.map((cell) => `${name}_${cell.name}`)]));
    if (numbers.length === 0) continue;
    const texts = textsOf({ name, numbers }, body);
    lines.push(placed([...numbers.map((arg) => `${name}_${arg.name}`), ...texts]));
  }
  lines.push(
    `if not bad and #KEYS ~= ${keysAt} then bad = 'keys' end`,
    `if not bad and #ARGV ~= ${argsAt} then bad = 'arguments' end`,
    `if bad then return redis.error_reply('EMQARG ' .. bad) end`,
  );
  return lines;
}

/** Places of a row's numbers as they came, where the body asks for one of them. */
function textsOf({ name, numbers }: Pick<RowLayout, "name" | "numbers">, body: string): string[] {
  const texts = numbers.map((arg) => `${name}_${arg.name}_text`);
  return texts.some((text) => body.includes(text)) ? texts : [];
}

/** Locals that are places: 1, 2, 3. */
function placed(names: readonly string[]): string {
  return `local ${names.join(", ")} = ${names.map((_, n) => n + 1).join(", ")}`;
}

/** Whole numbers of rows. Their values are kept by their text, for the body and because most repeat. */
function checks(spec: ScriptSpec, body: string): string[] {
  const lines: string[] = [];
  let alone = false;
  for (const row of layoutOf(spec).rows) {
    const whole = row.cells.flatMap((cell, at) =>
      cell.type === "int" ? [{ cell, at: at + 1 }] : [],
    );
    if (row.numbers.length === 0 && whole.length === 0) continue;
    alone ||= whole.length > 0;
    const { name } = row;
    if (row.numbers.length > 0) lines.push(`local ${name}_number = {}`);
    lines.push(
      `for row = ${name}_base, ${name}_base + (${name}_n - 1) * ${name}_w, ${name}_w do`,
      ...(row.numbers.length > 0 ? together(row, body) : []),
      ...whole.flatMap(({ cell, at }) => apart(`${name}.${cell.name}`, cell, at)),
      "end",
    );
  }
  if (lines.length === 0) return [];
  return [
    ...(alone ? ["local number = {}"] : []),
    ...lines,
    `if bad then return redis.error_reply('EMQARG ' .. bad) end`,
  ];
}

/** Numbers that share an argument: `<table>_number` has them by the argument's text, in their order. */
function together({ name, numbers }: RowLayout, body: string): string[] {
  const locals = numbers.map((_, n) => `n${n}`);
  const texts = textsOf({ name, numbers }, body).length > 0 ? locals : [];
  const values = [...locals.map((local) => `${local} + 0`), ...texts];
  return [
    "  local text = ARGV[row + 1]",
    `  if not ${name}_number[text] then`,
    `    local ${locals.join(", ")} = string.match(text, '^${numbers.map(() => "(%d+)").join(" ")}$')`,
    `    if not n0 then return redis.error_reply('EMQARG ${name}.numbers') end`,
    `    local many = { ${values.join(", ")} }`,
    ...numbers.map(
      (arg, n) =>
        `    if many[${n + 1}] > ${arg.most ?? MOST} then bad = bad or '${name}.${arg.name}' end`,
    ),
    `    ${name}_number[text] = many`,
    "  end",
  ];
}

/** The one number of a row, by its text. */
function apart(option: string, { most }: ArgSpec, at: number): string[] {
  return [
    `  local text = ARGV[row + ${at}]`,
    "  if not number[text] then",
    `    if string.find(text, '^%d+$') and text + 0 <= ${MOST} then number[text] = text + 0`,
    `    else return redis.error_reply('EMQARG ${option}') end`,
    "  end",
    ...(most === undefined
      ? []
      : [`  if number[text] > ${most} then bad = bad or '${option}' end`]),
  ];
}
