-- Carries the queue's options and its metrics, and notes the end of the copy.
local unpack = unpack or table.unpack
local stamp, meta, metrics_completed, metrics_failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 5 then return redis.error_reply('EMQARG arguments') end
local bad
local odd, whole = string.gsub(ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 3 then
  for _, arg in ipairs({ { 1, 'rows' }, { 2, 'minutes' }, { 4, 'last' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local rows_n = ARGV[1] + 0
if rows_n > 500 then bad = bad or 'rows' end
local minutes_n = ARGV[2] + 0
if minutes_n > 500 then bad = bad or 'minutes' end
local own = ARGV[3]
local last = ARGV[4] + 0
if last > 9007199254740991 then bad = bad or 'last' end
local source = ARGV[5]
local rows_base, rows_w = 5, 2
local function rows(row) return rows_base + (row - 1) * rows_w end
local rows_field, rows_value = 1, 2
local minutes_base, minutes_w = rows_base + rows_n * rows_w, 3
local function minutes(row) return minutes_base + (row - 1) * minutes_w end
local minutes_metric, minutes_minute, minutes_count = 1, 2, 3
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= minutes_base + minutes_n * minutes_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = minutes_base, minutes_base + (minutes_n - 1) * minutes_w, minutes_w do
  local text
  text = ARGV[row + 2]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG minutes.minute') end
  end
  text = ARGV[row + 3]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG minutes.count') end
  end
end
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
local OWN = { version = 1, opened = 1, migrated = 1, source = 1, closing = 1 }
local fields, done, broken = {}, {}, {}
for i = 1, rows_n do
  local field = ARGV[rows(i) + rows_field]
  if OWN[field] or string.sub(field, 1, 7) == 'copied.' then
    return redis.error_reply('EMQARG rows.field')
  end
  fields[#fields + 1] = field
  fields[#fields + 1] = ARGV[rows(i) + rows_value]
end
for i = 1, minutes_n do
  local metric = ARGV[minutes(i) + minutes_metric]
  local list = metric == 'completed' and done or metric == 'failed' and broken
  if not list then return redis.error_reply('EMQARG minutes.metric') end
  list[#list + 1] = ARGV[minutes(i) + minutes_minute]
  list[#list + 1] = ARGV[minutes(i) + minutes_count]
end
redis.call('HLEN', meta)
redis.call('HLEN', metrics_completed)
redis.call('HLEN', metrics_failed)
if last > 0 then
  fields[#fields + 1] = 'copied.all'
  fields[#fields + 1] = '1'
end
if #fields > 0 then redis.call('HSET', meta, unpack(fields)) end
if #done > 0 then redis.call('HSET', metrics_completed, unpack(done)) end
if #broken > 0 then redis.call('HSET', metrics_failed, unpack(broken)) end
return rows_n + minutes_n
