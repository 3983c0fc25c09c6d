-- Opens the migrated queue for v2 clients: version, stamp, tombstone and marker in one step.
local unpack = unpack or table.unpack
local stamp, meta, wait, prioritized, delayed, marker = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if #ARGV < 5 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local tombs_n, vault_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  tombs_n = b0 * 100 + b1 * 10 + b2 - 5328
  vault_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if tombs_n > 64 then bad = bad or 'tombs' end
if vault_n > 64 then bad = bad or 'vault' end
local own = ARGV[2]
local run = ARGV[3]
local tombstone = ARGV[4]
local source = ARGV[5]
local tombs_at, tombs_w = 6, 1
local vault_at, vault_w = tombs_at + tombs_n * tombs_w, 1
if not bad and #KEYS ~= vault_at + vault_n * vault_w then bad = 'keys' end
if not bad and #ARGV ~= 5 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
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
-- A resent call finds the work done.
if redis.pcall('GET', stamp) == 'echomq:2.0.0' and redis.pcall('HGET', meta, 'migrated') == run then
  local named = redis.call('HGET', meta, 'source')
  if named ~= source then return other_source(named) end
  return 'already'
end
-- A tool that was paused and overtaken stops here: the stamp must be this run's, in this phase.
if not string.find(own, '^echomq:migrating:[%w-]+:[a-z-]+$') then
  return redis.error_reply('EMQARG own')
end
local found_version = redis.pcall('GET', stamp)
if found_version ~= own then return refused(found_version) end
-- A tool told another prefix or spelling than the fence stops here: v2:meta names the run's v1 queue.
local named_source = redis.call('HGET', meta, 'source')
if named_source ~= source then return other_source(named_source) end
if not string.find(own, ':verified$') then return redis.error_reply('EMQARG own') end
if tombs_n > 1 or (tombs_n == 1) ~= (tombstone ~= '') then
  return redis.error_reply('EMQARG tombstone')
end
if redis.call('HGET', meta, 'migrated') ~= run then
  return redis.error_reply('EMQSTATE v2:meta names another run')
end
for i = 1, tombs_n do
  if KEYS[tombs_at + i] ~= source .. 'meta' then return redis.error_reply('EMQARG tombs') end
  local stands = redis.pcall('GET', KEYS[tombs_at + i])
  if type(stands) ~= 'string' or string.sub(stands, 1, 14 + #run) ~= 'echomq:moved:' .. run .. ':' then
    return redis.error_reply('EMQSTATE the tombstone is not that of this run')
  end
end
-- The fence moved one key at least, so a source without a vault is not the one it closed.
local kept = 0
for i = 1, vault_n do
  if string.sub(KEYS[vault_at + i], 1, #source) ~= source then return redis.error_reply('EMQARG vault') end
  kept = kept + redis.call('EXISTS', KEYS[vault_at + i])
end
if kept == 0 then return redis.error_reply('EMQSTATE the vault is empty') end
-- A blocked worker is woken as by an add: what was copied has armed nothing.
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
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
redis.call('ZCARD', prioritized)
local paused = redis.call('HEXISTS', meta, 'paused') == 1
redis.call('HDEL', meta, 'copied.wait', 'copied.paused', 'copied.prioritized', 'copied.delayed',
  'copied.completed', 'copied.failed', 'copied.all')
redis.call('HSET', meta, 'version', 'echomq:2.0.0')
for i = 1, tombs_n do redis.call('SET', KEYS[tombs_at + i], tombstone) end
redis.call('SET', stamp, 'echomq:2.0.0')
if not paused then
  arm(next_ids)
  if head[2] then arm_due(head[2]) end
end
return 'committed'
