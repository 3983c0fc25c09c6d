-- Reads why jobs must end.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, verdicts = KEYS[2], KEYS[3]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local items_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  items_n = b0 * 100 + b1 * 10 + b2 - 5328
end
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
