-- Sets how many jobs may wait in the queue, or lifts the limit.
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
local meta = KEYS[2]
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
local most = int(1, 'most')
if not bad and #KEYS ~= 2 then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('HLEN', meta)
if most > 0 then
  redis.call('HSET', meta, 'limit', string.format('%.0f', most))
else
  redis.call('HDEL', meta, 'limit')
end
return most
