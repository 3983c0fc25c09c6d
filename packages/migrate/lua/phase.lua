-- Changes the phase in the stamp of a run.
--@include refuse
--@include other_source
local from_run = string.match(own, '^(echomq:migrating:[%w-]+:)[a-z-]+$')
local to_run, to = string.match(goal, '^(echomq:migrating:[%w-]+:)([a-z-]+)$')
if not from_run then return redis.error_reply('EMQARG own') end
if from_run ~= to_run then return redis.error_reply('EMQARG goal') end
local found_version = redis.pcall('GET', stamp)
if found_version == goal then return 0 end
if found_version ~= own then return refused(found_version) end
-- What was begun to be taken back can only be taken back.
if string.find(own, ':rollback$') and to ~= 'rollback' then
  return redis.error_reply('EMQSTATE rollback has begun')
end
-- Without v2:meta a rollback may still begin: the last step asks the tombstone.
local named = redis.call('HGET', meta, 'source')
if named ~= source and (named or to ~= 'rollback') then return other_source(named) end
if to == 'rollback' then
  -- Freed first: a rollback must begin although maxmemory is reached.
  redis.call('HDEL', meta, 'copied.wait', 'copied.paused', 'copied.prioritized', 'copied.delayed',
    'copied.completed', 'copied.failed', 'copied.all')
end
redis.call('SET', stamp, goal)
return 1
