-- Reads counts per minute of completed or failed jobs, newest minute first.
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
local meta, metrics_completed, metrics_failed = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local count
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  count = b0 * 100 + b1 * 10 + b2 - 5328
end
if count > 500 then bad = bad or 'count' end
if not string.find(ARGV[3], '^%d+$') then
  for _, arg in ipairs({ { 3, 'newest' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local kind = ARGV[2]
local newest = ARGV[3] + 0
if newest > 1000000000 then bad = bad or 'newest' end
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local key = metrics_completed
if kind == 'failed' then key = metrics_failed
elseif kind ~= 'completed' then return redis.error_reply('EMQARG kind') end
local function whole(text)
  local value = tonumber(text)
  return value and value >= 0 and value % 1 == 0 and value or 0
end
local known = redis.call('HMGET', key, 'total', 'last', 'low', 'keep')
local out, minutes = {}, {}
local last = whole(known[2])
minutes[1] = string.format('%.0f', last)
for i = 0, math.min(count, newest + 1) - 1 do
  minutes[#minutes + 1] = string.format('%.0f', newest - i)
end
local counts = redis.call('HMGET', key, unpack(minutes))
for i = 2, #minutes do out[i - 1] = whole(counts[i]) end
return { whole(known[1]), last, whole(counts[1]), whole(known[3]), whole(known[4]), out }
