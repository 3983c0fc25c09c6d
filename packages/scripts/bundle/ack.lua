-- Strikes effects that were applied off the outbox, and puts off those that were refused.
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
local meta, outbox, outbox_due = KEYS[2], KEYS[3], KEYS[4]
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
if items_n > 100 then bad = bad or 'items' end
local items_base, items_w = 1, 2
local function items(row) return items_base + (row - 1) * items_w end
local items_effect, items_due = 1, 2
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = items_base, items_base + (items_n - 1) * items_w, items_w do
  local text = ARGV[row + 2]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG items.due') end
  end
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
