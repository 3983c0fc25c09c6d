-- Closes a v2 queue before its keys are removed, or takes its last two keys away.
local unpack = unpack or table.unpack
local stamp, meta, active = KEYS[1], KEYS[2], KEYS[3]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
local own = ARGV[1]
local step = ARGV[2]
if not bad and #KEYS ~= 3 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- The refusal of a stamp that is not the one the call needs.
local function refused(found)
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', ' ')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 128))
end
if not string.find(own, '^echomq:migrating:[%w-]+:remove$') then return redis.error_reply('EMQARG own') end
if step ~= 'close' and step ~= 'end' then return redis.error_reply('EMQARG step') end
local found_version = redis.pcall('GET', stamp)
if step == 'end' then
  -- A resent call finds the work done.
  if found_version == false and redis.call('EXISTS', meta) == 0 then return 0 end
  if found_version ~= own then return refused(found_version) end
  return redis.call('UNLINK', meta, stamp)
end
if found_version == own then return 0 end
if type(found_version) ~= 'string' or string.sub(found_version, 1, 9) ~= 'echomq:2.' then
  return refused(found_version)
end
local running = redis.call('ZCARD', active)
if running > 0 then return redis.error_reply('EMQSTATE active ' .. running) end
redis.call('HLEN', meta)
-- A removing write comes first, or maxmemory would forbid to make room.
redis.call('HDEL', meta, 'copied.wait')
redis.call('SET', stamp, own)
return 1
