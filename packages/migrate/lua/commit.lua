-- Opens the migrated queue for v2 clients: version, stamp, tombstone and marker in one step.
--@include refuse
--@include other_source
-- A resent call finds the work done.
if redis.pcall('GET', stamp) == 'echomq:2.0.0' and redis.pcall('HGET', meta, 'migrated') == run then
  local named = redis.call('HGET', meta, 'source')
  if named ~= source then return other_source(named) end
  return 'already'
end
--@include run_fence
--@include source
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
--@include marker
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
