-- Notes that a worker lives, and drops those not heard of for long; a ttl of 0 takes the worker out.
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
local meta, workers, workers_info = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
if not string.find(ARGV[1] .. ' ' .. ARGV[2], '^%d+ %d+$') then
  for _, arg in ipairs({ { 1, 'now' }, { 2, 'ttl' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[1] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local ttl = ARGV[2] + 0
if ttl > 9007199254740991 then bad = bad or 'ttl' end
local id = ARGV[3]
local info = ARGV[4]
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
