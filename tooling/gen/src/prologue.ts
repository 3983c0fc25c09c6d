import type { ArgSpec, KeyName, ScriptSpec } from "../../../packages/scripts/src/registry/spec.js";

/** Lua local for a fixed key: `waiting-children` becomes `waiting_children`. */
export function luaName(name: KeyName | string): string {
  return name.replace(/^reserve:/, "").replaceAll(/[^A-Za-z0-9]/g, "_");
}

/**
 * The head of a bundled script, written from its data: fence first, then every argument decoded and
 * checked, so no body can forget either.
 */
export function prologue(spec: ScriptSpec): string {
  return [fence(spec), locals(spec), decoders(), ...counts(spec), ...checks(spec)].join("\n");
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
  const major = "string.sub(found_version, 1, 9) == 'echomq:2.'";
  if (spec.fence === "migration") return `local unpack = unpack or table.unpack`;
  const allow = spec.fence === "step" ? "" : "found_version ~= false and ";
  return `${read}
if ${allow}not (type(found_version) == 'string' and ${major}) then
${refuse}`;
}

function locals(spec: ScriptSpec): string {
  const first = spec.fence === "migration" ? 0 : 1;
  const rest = spec.keys.slice(first);
  if (rest.length === 0) return "";
  const names = rest.map(luaName).join(", ");
  return `local ${names} = ${rest.map((_, at) => `KEYS[${at + 1 + first}]`).join(", ")}`;
}

function decoders(): string {
  return `local bad
local number = {}
local function int(at, name)
  local text = ARGV[at]
  if number[text] then return number[text] end
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then
      number[text] = value
      return value
    end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end`;
}

function counts(spec: ScriptSpec): string[] {
  const lines: string[] = [];
  let at = 0;
  for (const { name } of [...spec.groups, ...spec.tables]) {
    at += 1;
    lines.push(`local ${name}_n = int(${at}, '${name}')`);
    lines.push(`if ${name}_n > ${spec.bound} then bad = bad or '${name}' end`);
  }
  for (const arg of spec.args) {
    at += 1;
    lines.push(`local ${luaName(arg.name)} = ${arg.type}(${at}, '${arg.name}')`);
    if (arg.most !== undefined) {
      lines.push(`if ${luaName(arg.name)} > ${arg.most} then bad = bad or '${arg.name}' end`);
    }
  }
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
  let argsAt = String(at);
  for (const table of spec.tables) {
    lines.push(`local ${table.name}_base, ${table.name}_w = ${argsAt}, ${table.columns.length}`);
    lines.push(
      `local function ${table.name}(row) return ${table.name}_base + (row - 1) * ${table.name}_w end`,
    );
    argsAt = `${table.name}_base + ${table.name}_n * ${table.name}_w`;
    lines.push(
      `local ${table.columns.map((column) => `${table.name}_${column.name}`).join(", ")} = ${table.columns.map((_, n) => n + 1).join(", ")}`,
    );
  }
  lines.push(
    `if not bad and #KEYS ~= ${keysAt} then bad = 'keys' end`,
    `if not bad and #ARGV ~= ${argsAt} then bad = 'arguments' end`,
    `if bad then return redis.error_reply('EMQARG ' .. bad) end`,
  );
  return lines;
}

function checks(spec: ScriptSpec): string[] {
  const lines: string[] = [];
  for (const table of spec.tables) {
    const whole = table.columns.flatMap((column: ArgSpec, at) => {
      if (column.type !== "int") return [];
      const name = `${table.name}.${column.name}`;
      const value = `int(${table.name}(row) + ${at + 1}, '${name}')`;
      if (column.most === undefined) return [`  ${value}`];
      return [`  if ${value} > ${column.most} then bad = bad or '${name}' end`];
    });
    if (whole.length === 0) continue;
    lines.push(`for row = 1, ${table.name}_n do`, ...whole, "end");
  }
  if (lines.length > 0) lines.push(`if bad then return redis.error_reply('EMQARG ' .. bad) end`);
  return lines;
}
