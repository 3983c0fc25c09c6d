-- Changes the phase in the stamp of a run.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
local own = ARGV[1]
local goal = ARGV[2]
local source = ARGV[3]
if not bad and #KEYS ~= 2 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
