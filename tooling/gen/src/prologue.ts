import { WIRE_VERSION } from "@echomq/wire";
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
  return [...lines, ...checks(spec)].join("\n");
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

/** Counts of groups and tables, then single arguments, as they stand in `ARGV`. */
function singlesOf(spec: ScriptSpec): readonly (ArgSpec & { readonly local: string })[] {
  const counted = [...spec.groups, ...spec.tables].map(({ name }) => {
    return { name, type: "int", most: spec.bound, doc: "", local: `${name}_n` } as const;
  });
  return [...counted, ...spec.args.map((arg) => ({ ...arg, local: luaName(arg.name) }))];
}

function singles(spec: ScriptSpec, body: string): string[] {
  const all = singlesOf(spec);
  if (all.length === 0) return ["local bad"];
  const lines = [
    `if #ARGV < ${all.length} then return redis.error_reply('EMQARG arguments') end`,
    "local bad",
  ];
  const whole = all.flatMap(({ type, name }, at) => (type === "int" ? [{ at: at + 1, name }] : []));
  if (whole.length > 0) {
    const text = whole.map(({ at }) => `ARGV[${at}]`).join(" .. ' ' .. ");
    const names = whole.map(({ at, name }) => `{ ${at}, '${name}' }`).join(", ");
    // All in one look: a look at each costs twice as much as the rest of the head.
    lines.push(
      `local odd, whole = string.gsub(${text} .. ' ', '%d+ ', '')`,
      `if odd ~= '' or whole ~= ${whole.length} then`,
      `  for _, arg in ipairs({ ${names} }) do`,
      "    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end",
      "  end",
      "  return redis.error_reply('EMQARG ' .. bad)",
      "end",
    );
  }
  all.forEach(({ type, name, most, local }, at) => {
    const value = type === "int" ? `ARGV[${at + 1}] + 0` : `ARGV[${at + 1}]`;
    lines.push(`local ${local} = ${value}`);
    if (type === "int") lines.push(`if ${local} > ${most ?? MOST} then bad = bad or '${name}' end`);
    if (!body.includes(`${local}_text`)) return;
    // As it came, since a number is written out anew for each command; so it must come as it would be written.
    lines.push(
      `local ${local}_text = ARGV[${at + 1}]`,
      `if ${local} < 10 ^ (#${local}_text - 1) and ${local}_text ~= '0' then bad = bad or '${name}' end`,
    );
  });
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
  let argsAt = String(singlesOf(spec).length);
  for (const { name, columns } of spec.tables) {
    lines.push(`local ${name}_base, ${name}_w = ${argsAt}, ${columns.length}`);
    if (body.includes(`${name}(`)) {
      lines.push(`local function ${name}(row) return ${name}_base + (row - 1) * ${name}_w end`);
    }
    argsAt = `${name}_base + ${name}_n * ${name}_w`;
    lines.push(
      `local ${columns.map((column) => `${name}_${column.name}`).join(", ")} = ${columns.map((_, n) => n + 1).join(", ")}`,
    );
  }
  lines.push(
    `if not bad and #KEYS ~= ${keysAt} then bad = 'keys' end`,
    `if not bad and #ARGV ~= ${argsAt} then bad = 'arguments' end`,
    `if bad then return redis.error_reply('EMQARG ' .. bad) end`,
  );
  return lines;
}

/** Whole numbers of rows. Their values are kept by their text, for the body and because most repeat. */
function checks(spec: ScriptSpec): string[] {
  const lines: string[] = [];
  for (const { name, columns } of spec.tables) {
    const whole = columns.flatMap((column: ArgSpec, at) => {
      if (column.type !== "int") return [];
      const option = `${name}.${column.name}`;
      const most =
        column.most === undefined
          ? []
          : [`    if number[text] > ${column.most} then bad = bad or '${option}' end`];
      return [
        `  text = ARGV[row + ${at + 1}]`,
        "  if not number[text] then",
        `    if string.find(text, '^%d+$') and text + 0 <= ${MOST} then number[text] = text + 0`,
        `    else return redis.error_reply('EMQARG ${option}') end`,
        "  end",
        ...most.map((line) => line.slice(2)),
      ];
    });
    if (whole.length === 0) continue;
    lines.push(
      `for row = ${name}_base, ${name}_base + (${name}_n - 1) * ${name}_w, ${name}_w do`,
      "  local text",
      ...whole,
      "end",
    );
  }
  if (lines.length === 0) return [];
  return [
    "local number = {}",
    ...lines,
    `if bad then return redis.error_reply('EMQARG ' .. bad) end`,
  ];
}
