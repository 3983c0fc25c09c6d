-- Takes a committed queue back into its run, as long as no v2 client has opened it.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 5 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local tombs_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  tombs_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if tombs_n > 1 then bad = bad or 'tombs' end
local run = ARGV[2]
local goal = ARGV[3]
local tombstone = ARGV[4]
local source = ARGV[5]
local tombs_at, tombs_w = 2, 1
if not bad and #KEYS ~= tombs_at + tombs_n * tombs_w then bad = 'keys' end
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
