-- Reads why jobs must end.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, verdicts = KEYS[2], KEYS[3]
local bad
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
end
local items_n = int(1, 'items')
if items_n > 500 then bad = bad or 'items' end
local items_base, items_w = 1, 1
local function items(row) return items_base + (row - 1) * items_w end
local items_id = 1
if not bad and #KEYS ~= 3 then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
if items_n == 0 then return {} end
local ids = {}
for i = 1, items_n do ids[i] = ARGV[items(i) + items_id] end
return redis.call('HMGET', verdicts, unpack(ids))
