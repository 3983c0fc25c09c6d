-- Sets how many jobs may wait in the queue, or lifts the limit.
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
local meta = KEYS[2]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if not string.find(ARGV[1], '^%d+$') then
  for _, arg in ipairs({ { 1, 'most' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local most = ARGV[1] + 0
if most > 9007199254740991 then bad = bad or 'most' end
if not bad and #KEYS ~= 2 then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('HLEN', meta)
-- An administrator must be able to act on a server whose memory is used up. The first write is one that
-- maxmemory lets pass; what comes after one passes too. No field is named like this.
redis.call('HDEL', meta, '')
if most > 0 then
  redis.call('HSET', meta, 'limit', string.format('%.0f', most))
else
  redis.call('HDEL', meta, 'limit')
end
return most
