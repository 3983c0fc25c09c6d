-- Carries the queue's options and its metrics, and notes the end of the copy.
local unpack = unpack or table.unpack
local stamp, meta, metrics_completed, metrics_failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local rows_n, minutes_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  rows_n = b0 * 100 + b1 * 10 + b2 - 5328
  minutes_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if rows_n > 500 then bad = bad or 'rows' end
if minutes_n > 500 then bad = bad or 'minutes' end
if not string.find(ARGV[3], '^%d+$') then
  for _, arg in ipairs({ { 3, 'last' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local own = ARGV[2]
local last = ARGV[3] + 0
if last > 9007199254740991 then bad = bad or 'last' end
local source = ARGV[4]
local rows_base, rows_w = 4, 2
local function rows(row) return rows_base + (row - 1) * rows_w end
local rows_field, rows_value = 1, 2
local minutes_base, minutes_w = rows_base + rows_n * rows_w, 2
local function minutes(row) return minutes_base + (row - 1) * minutes_w end
local minutes_numbers, minutes_metric = 1, 2
local minutes_minute, minutes_count, minutes_minute_text, minutes_count_text = 1, 2, 3, 4
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= minutes_base + minutes_n * minutes_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local minutes_number = {}
for row = minutes_base, minutes_base + (minutes_n - 1) * minutes_w, minutes_w do
  local text = ARGV[row + 1]
  if not minutes_number[text] then
    local n0, n1 = string.match(text, '^(%d+) (%d+)$')
    if not n0 then return redis.error_reply('EMQARG minutes.numbers') end
    local many = { n0 + 0, n1 + 0, n0, n1 }
    if many[1] > 9007199254740991 then bad = bad or 'minutes.minute' end
    if many[2] > 9007199254740991 then bad = bad or 'minutes.count' end
    minutes_number[text] = many
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
  local number = minutes_number[ARGV[minutes(i) + minutes_numbers]]
  list[#list + 1] = number[minutes_minute_text]
  list[#list + 1] = number[minutes_count_text]
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
