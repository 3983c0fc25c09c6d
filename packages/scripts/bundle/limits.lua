-- Reads the limits of the queue and how long its rate keeps it from starting more.
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
local meta, limiter = KEYS[2], KEYS[3]
local bad
if not bad and #KEYS ~= 3 then bad = 'keys' end
if not bad and #ARGV ~= 0 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local set = redis.call('HMGET', meta, 'concurrency', 'rate.max', 'rate.ms')
return { set[1], set[2], set[3], redis.call('GET', limiter), redis.call('PTTL', limiter) }
