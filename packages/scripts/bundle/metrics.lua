-- Reads counts per minute of completed or failed jobs, newest minute first.
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
local meta, metrics_completed, metrics_failed = KEYS[2], KEYS[3], KEYS[4]
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
local kind = text(1, 'kind')
local newest = int(2, 'newest')
if newest > 1000000000 then bad = bad or 'newest' end
local count = int(3, 'count')
if count > 500 then bad = bad or 'count' end
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
