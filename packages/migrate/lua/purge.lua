-- Removes v1 keys of a queue whose migration was committed.
--@include refuse
--@include other_source
local found_version = redis.pcall('GET', stamp)
if type(found_version) ~= 'string' or string.sub(found_version, 1, 9) ~= 'echomq:2.' then
  return refused(found_version)
end
local BEFORE = { start = '', batch = ' purging', done = ' purging' }
local AFTER = { start = ' purging', batch = ' purging', done = ' purged' }
if not BEFORE[step] then return redis.error_reply('EMQARG step') end
--@include source
local state = redis.call('HGET', meta, 'migrated') or ''
if state == run .. AFTER[step] and step ~= 'batch' then return 0 end
if state ~= run .. BEFORE[step] then
  return redis.error_reply('EMQSTATE migrated ' .. (state ~= '' and state or 'by nobody'))
end
local base = string.sub(stamp, 1, -5) .. 'v2:'
for i = 1, victims_n do
  local key = KEYS[victims_at + i]
  if key == stamp or string.sub(key, 1, #source) ~= source or string.sub(key, 1, #base) == base
    or step ~= 'batch' then
    return redis.error_reply('EMQARG victims')
  end
end
local gone = 0
for i = 1, victims_n do gone = gone + redis.call('UNLINK', KEYS[victims_at + i]) end
if step ~= 'batch' then
  -- A removing write comes first, or maxmemory would forbid to make room.
  redis.call('HDEL', meta, 'copied.wait')
  redis.call('HSET', meta, 'migrated', run .. AFTER[step])
end
return gone
