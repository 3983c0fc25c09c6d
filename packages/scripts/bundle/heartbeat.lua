-- Notes that a worker lives, and drops those not heard of for long; a ttl of 0 takes the worker out.
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
local meta, workers, workers_info = KEYS[2], KEYS[3], KEYS[4]
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
local now = int(1, 'now')
local ttl = int(2, 'ttl')
local id = text(3, 'id')
local info = text(4, 'info')
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= 4 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('HLEN', workers_info)
local dead = redis.call('ZRANGEBYSCORE', workers, '-inf',
  string.format('%.0f', math.max(now - ttl, 0)), 'LIMIT', 0, 100)
if ttl == 0 then dead = { id } end
if #dead > 0 then
  redis.call('ZREM', workers, unpack(dead))
  redis.call('HDEL', workers_info, unpack(dead))
end
if ttl > 0 then
  redis.call('ZADD', workers, now, id)
  redis.call('HSET', workers_info, id, info)
end
return redis.call('ZCARD', workers)
