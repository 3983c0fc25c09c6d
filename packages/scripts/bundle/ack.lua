-- Strikes effects that were applied off the outbox, and puts off those that were refused.
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
local meta, outbox, outbox_due = KEYS[2], KEYS[3], KEYS[4]
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
if items_n > 100 then bad = bad or 'items' end
local items_base, items_w = 1, 2
local function items(row) return items_base + (row - 1) * items_w end
local items_effect, items_due = 1, 2
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
for row = 1, items_n do
  int(items(row) + 2, 'items.due')
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('HLEN', outbox)
redis.call('ZCARD', outbox_due)
local done, later = {}, {}
for i = 1, items_n do
  local effect, due = ARGV[items(i) + items_effect], tonumber(ARGV[items(i) + items_due])
  if due == 0 then
    done[#done + 1] = effect
  elseif redis.call('ZSCORE', outbox_due, effect) then
    later[#later + 1] = due
    later[#later + 1] = effect
  end
end
if #done > 0 then
  redis.call('ZREM', outbox_due, unpack(done))
  redis.call('HDEL', outbox, unpack(done))
end
if #later > 0 then redis.call('ZADD', outbox_due, 'XX', unpack(later)) end
return #done
