-- Takes a committed queue back into its run, as long as no v2 client has opened it.
--@include refuse
--@include other_source
if not string.find(goal, '^echomq:migrating:[%w-]+:rollback$') then
  return redis.error_reply('EMQARG goal')
end
if goal ~= 'echomq:migrating:' .. run .. ':rollback' then return redis.error_reply('EMQARG run') end
if tombs_n > 1 or (tombs_n == 1) ~= (tombstone ~= '') then
  return redis.error_reply('EMQARG tombstone')
end
local found_version = redis.pcall('GET', stamp)
if found_version == goal then return 'already' end
if type(found_version) ~= 'string' or string.sub(found_version, 1, 9) ~= 'echomq:2.' then
  return refused(found_version)
end
local known = redis.call('HMGET', meta, 'opened', 'migrated')
if known[1] then return redis.error_reply('EMQSTATE opened ' .. known[1]) end
if known[2] ~= run then
  return redis.error_reply('EMQSTATE migrated ' .. (known[2] and known[2] ~= '' and known[2] or 'by nobody'))
end
local named = redis.call('HGET', meta, 'source')
if named ~= source then return other_source(named) end
for i = 1, tombs_n do
  if KEYS[tombs_at + i] ~= source .. 'meta' then return redis.error_reply('EMQARG tombs') end
  local stands = redis.pcall('GET', KEYS[tombs_at + i])
  if stands and (type(stands) == 'table' or string.sub(stands, 1, 14 + #run) ~= 'echomq:moved:' .. run .. ':') then
    return redis.error_reply('EMQSTATE the tombstone was overwritten')
  end
end
redis.call('HDEL', meta, 'version')
for i = 1, tombs_n do redis.call('SET', KEYS[tombs_at + i], tombstone) end
redis.call('SET', stamp, goal)
return 'reopened'
