-- Moves every queue-level v1 key into the vault, leaves a tombstone and stamps the queue, in one step.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 5 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local live_n, vault_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  live_n = b0 * 100 + b1 * 10 + b2 - 5328
  vault_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if live_n > 64 then bad = bad or 'live' end
if vault_n > 64 then bad = bad or 'vault' end
local own = ARGV[2]
local run = ARGV[3]
local tombstone = ARGV[4]
local source = ARGV[5]
local live_at, live_w = 2, 1
local vault_at, vault_w = live_at + live_n * live_w, 1
if not bad and #KEYS ~= vault_at + vault_n * vault_w then bad = 'keys' end
if not bad and #ARGV ~= 5 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- live[1] is v1's meta, live[2] active, live[3] waiting-children, live[4] repeat.
-- The refusal of a stamp that is not the one the call needs.
local function refused(found)
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', ' ')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 128))
end
-- The refusal of a call that was made for another v1 queue than the run's.
local function other_source(named)
  local shown = string.gsub(named or 'none', '%c', ' ')
  return redis.error_reply('EMQSTATE source ' .. string.sub(shown, 1, 256))
end
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
