-- Removes v1 keys of a queue whose migration was committed.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local victims_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  victims_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if victims_n > 500 then bad = bad or 'victims' end
local run = ARGV[2]
local step = ARGV[3]
local source = ARGV[4]
local victims_at, victims_w = 2, 1
if not bad and #KEYS ~= victims_at + victims_n * victims_w then bad = 'keys' end
if not bad and #ARGV ~= 4 then bad = 'arguments' end
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
local found_version = redis.pcall('GET', stamp)
if type(found_version) ~= 'string' or string.sub(found_version, 1, 9) ~= 'echomq:2.' then
  return refused(found_version)
end
local BEFORE = { start = '', batch = ' purging', done = ' purging' }
local AFTER = { start = ' purging', batch = ' purging', done = ' purged' }
if not BEFORE[step] then return redis.error_reply('EMQARG step') end
-- A tool told another prefix or spelling than the fence stops here: v2:meta names the run's v1 queue.
local named_source = redis.call('HGET', meta, 'source')
if named_source ~= source then return other_source(named_source) end
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
