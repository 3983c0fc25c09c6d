-- Opens the migrated queue for v2 clients: version, stamp and tombstone in one step.
--@include refuse
-- A resent call finds the work done.
if redis.pcall('GET', stamp) == 'echomq:2.0.0' and redis.pcall('HGET', meta, 'migrated') == run then
  return 'already'
end
--@include run_fence
if not string.find(own, ':verified$') then return redis.error_reply('EMQARG own') end
if tombs_n > 1 or (tombs_n == 1) ~= (tombstone ~= '') then
  return redis.error_reply('EMQARG tombstone')
end
if redis.call('HGET', meta, 'migrated') ~= run then
  return redis.error_reply('EMQSTATE v2:meta names another run')
end
for i = 1, tombs_n do
  local stands = redis.pcall('GET', KEYS[tombs_at + i])
  if stands and (type(stands) == 'table' or string.sub(stands, 1, 14 + #run) ~= 'echomq:moved:' .. run .. ':') then
    return redis.error_reply('EMQSTATE the tombstone was overwritten')
  end
end
redis.call('HDEL', meta, 'copied.wait', 'copied.paused', 'copied.prioritized', 'copied.delayed',
  'copied.completed', 'copied.failed', 'copied.all')
redis.call('HSET', meta, 'version', 'echomq:2.0.0')
for i = 1, tombs_n do redis.call('SET', KEYS[tombs_at + i], tombstone) end
redis.call('SET', stamp, 'echomq:2.0.0')
return 'committed'
