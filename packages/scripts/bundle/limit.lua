-- Sets or lifts a limit of the queue and wakes the workers where it was lifted or raised.
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
local meta, wait, prioritized, limiter, marker = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if not string.find(ARGV[2] .. ' ' .. ARGV[3], '^%d+ %d+$') then
  for _, arg in ipairs({ { 2, 'most' }, { 3, 'ms' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local kind = ARGV[1]
local most = ARGV[2] + 0
if most > 9007199254740991 then bad = bad or 'most' end
local ms = ARGV[3] + 0
if ms > 315360000000 then bad = bad or 'ms' end
if not bad and #KEYS ~= 6 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'paused', 'rate.max')
local FOREVER = '9007199254740991'
local marked = redis.call('ZCARD', marker)
-- Wakes blocked workers. Members are ids of waiting jobs at score 0; the next due time stands under a
-- control character, which no id may hold.
local function arm(ids)
  local add = {}
  for i = 1, math.min(#ids, 16 - marked) do
    add[#add + 1] = 0
    add[#add + 1] = ids[i]
  end
  if #add > 0 then redis.call('ZADD', marker, unpack(add)) end
end

-- Ids to be claimed next: whoever wakes by one looks at the right place.
local function next_up()
  local ids = redis.call('LRANGE', wait, -16, -1)
  if #ids == 0 then ids = redis.call('ZRANGE', prioritized, 0, 15) end
  return ids
end

local function arm_due(due) redis.call('ZADD', marker, due, '\1') end
local next_ids = next_up()
local count, left = redis.call('GET', limiter), redis.call('PTTL', limiter)
local held_by_hand = count == FOREVER and left > 0
if kind == 'rate' and most > 0 and ms == 0 then return redis.error_reply('EMQARG ms') end
if not ({ concurrency = 1, rate = 1, events = 1, hold = 1 })[kind] then return redis.error_reply('EMQARG kind') end
-- An administrator must be able to act on a server whose memory is used up. The first write is one that
-- maxmemory lets pass; what comes after one passes too. No field is named like this.
redis.call('HDEL', meta, '')
if kind == 'concurrency' then
  if most > 0 then redis.call('HSET', meta, 'concurrency', string.format('%.0f', most))
  else redis.call('HDEL', meta, 'concurrency') end
elseif kind == 'rate' then
  if most > 0 then
    redis.call('HSET', meta, 'rate.max', string.format('%.0f', most), 'rate.ms',
      string.format('%.0f', ms))
  else
    redis.call('HDEL', meta, 'rate.max', 'rate.ms')
    -- Workers that use the lean step are sent to the one that sees the hold.
    if held_by_hand then redis.call('HSET', meta, 'rate.max', '0') end
  end
elseif kind == 'events' then
  redis.call('HSET', meta, 'events.max', string.format('%.0f', most))
  return 1
elseif ms > 0 then
  redis.call('SET', limiter, FOREVER, 'PX', string.format('%.0f', ms))
  redis.call('HSETNX', meta, 'rate.max', '0')
elseif held_by_hand then
  redis.call('UNLINK', limiter)
end
if not opts[1] and not (kind == 'hold' and ms > 0) then arm(next_ids) end
return 1
