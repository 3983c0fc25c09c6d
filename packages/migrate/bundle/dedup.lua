-- Carries deduplication keys with the time they have left.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local sources_n, records_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  sources_n = b0 * 100 + b1 * 10 + b2 - 5328
  records_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if sources_n > 500 then bad = bad or 'sources' end
if records_n > 500 then bad = bad or 'records' end
local own = ARGV[2]
local source = ARGV[3]
local sources_at, sources_w = 2, 1
local records_at, records_w = sources_at + sources_n * sources_w, 1
local records_id = #stamp - 4 + #'v2:dedup:' + 1
if not bad and #KEYS ~= records_at + records_n * records_w then bad = 'keys' end
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
-- A tool that was paused and overtaken stops here: the stamp must be this run's, in this phase.
if not string.find(own, '^echomq:migrating:[%w-]+:[a-z-]+$') then
  return redis.error_reply('EMQARG own')
end
local found_version = redis.pcall('GET', stamp)
if found_version ~= own then return refused(found_version) end
-- A tool told another prefix or spelling than the fence stops here: v2:meta names the run's v1 queue.
local named_source = redis.call('HGET', meta, 'source')
if named_source ~= source then return other_source(named_source) end
if sources_n ~= records_n then return redis.error_reply('EMQARG sources') end
local statuses, values, left = {}, {}, {}
for i = 1, sources_n do
  if KEYS[sources_at + i] == KEYS[records_at + i]
    or string.sub(KEYS[sources_at + i], 1, #source) ~= source then
    return redis.error_reply('EMQARG sources')
  end
  values[i] = redis.pcall('GET', KEYS[sources_at + i])
  left[i] = redis.call('PTTL', KEYS[sources_at + i])
  statuses[i] = type(values[i]) == 'table' and 'wrongtype' or values[i] and 'ok' or 'gone'
end
for i = 1, sources_n do
  if statuses[i] == 'ok' then
    redis.call('UNLINK', KEYS[records_at + i])
    redis.call('HSET', KEYS[records_at + i], 'job', values[i])
    if left[i] > 0 then redis.call('PEXPIRE', KEYS[records_at + i], left[i]) end
  end
end
return statuses
