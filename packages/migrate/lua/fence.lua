-- Moves every queue-level v1 key into the vault, leaves a tombstone and stamps the queue, in one step.
-- live[1] is v1's meta, live[2] active, live[3] waiting-children, live[4] repeat.
--@include refuse
--@include other_source
if live_n ~= vault_n or live_n < 4 then return redis.error_reply('EMQARG live') end
if not string.find(own, '^echomq:migrating:[%w-]+:fence$') then
  return redis.error_reply('EMQARG own')
end
local v1_meta = KEYS[live_at + 1]
local here = v1_meta == stamp
if here ~= (tombstone == '') then return redis.error_reply('EMQARG tombstone') end
if v1_meta ~= source .. 'meta' then return redis.error_reply('EMQARG source') end

local found = redis.pcall('GET', stamp)
if found == own then
  local named = redis.call('HGET', meta, 'source')
  if named ~= source then return other_source(named) end
  return 0
end
-- In place, v1's meta hash stands where the stamp belongs.
if type(found) == 'string' or (found and not here) then return refused(found) end
if redis.call('EXISTS', meta) == 1 then return refused(false) end
local fields = redis.pcall('HLEN', v1_meta)
if type(fields) == 'table' then return refused(redis.pcall('GET', v1_meta)) end

local held = redis.pcall('LLEN', KEYS[live_at + 2])
if type(held) == 'table' then return redis.error_reply('EMQSTATE active wrongtype') end
if held > 0 then return redis.error_reply('EMQSTATE active ' .. held) end
local parents = redis.pcall('ZCARD', KEYS[live_at + 3])
if parents ~= 0 then
  return redis.error_reply('EMQSTATE waiting-children ' .. (tonumber(parents) or 'wrongtype'))
end
local repeats = redis.pcall('ZCARD', KEYS[live_at + 4])
if repeats ~= 0 then
  return redis.error_reply('EMQSTATE repeat ' .. (tonumber(repeats) or 'wrongtype'))
end

local there, seen = {}, 0
for i = 1, live_n do
  there[i] = redis.call('EXISTS', KEYS[live_at + i]) == 1
  if there[i] then seen = seen + 1 end
  if redis.call('EXISTS', KEYS[vault_at + i]) == 1 then
    return redis.error_reply('EMQSTATE vault is not empty')
  end
end
if seen == 0 then return redis.error_reply('EMQSTATE nothing to move') end

-- RENAME frees nothing and allocates nothing, so maxmemory cannot stop what follows it.
for i = 1, live_n do
  if there[i] then redis.call('RENAME', KEYS[live_at + i], KEYS[vault_at + i]) end
end
if not here then redis.call('SET', v1_meta, tombstone) end
redis.call('SET', stamp, own)
redis.call('HSET', meta, 'migrated', run, 'source', source)
return seen
