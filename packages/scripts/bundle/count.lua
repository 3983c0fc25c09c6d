-- Adds ended jobs to the counts per minute and lets old minutes go, at most 500 a call.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, metrics_completed, metrics_failed = KEYS[2], KEYS[3], KEYS[4]
local bad
local number = {}
local function int(at, name)
  local text = ARGV[at]
  if number[text] then return number[text] end
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then
      number[text] = value
      return value
    end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end
local rows_n = int(1, 'rows')
if rows_n > 60 then bad = bad or 'rows' end
local keep = int(2, 'keep')
if keep > 1000000 then bad = bad or 'keep' end
local rows_base, rows_w = 2, 3
local function rows(row) return rows_base + (row - 1) * rows_w end
local rows_minute, rows_completed, rows_failed = 1, 2, 3
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= rows_base + rows_n * rows_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
for row = 1, rows_n do
  if int(rows(row) + 1, 'rows.minute') > 1000000000 then bad = bad or 'rows.minute' end
  if int(rows(row) + 2, 'rows.completed') > 4294967296 then bad = bad or 'rows.completed' end
  if int(rows(row) + 3, 'rows.failed') > 4294967296 then bad = bad or 'rows.failed' end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local function whole(text)
  local value = tonumber(text)
  return value and value >= 0 and value % 1 == 0 and value or nil
end
local plans = {}
for s, side in ipairs({
  { metrics_completed, rows_completed }, { metrics_failed, rows_failed },
}) do
  local known = redis.call('HMGET', side[1], 'low', 'last', 'total')
  local low, last, total = whole(known[1]), whole(known[2]) or 0, whole(known[3]) or 0
  local sums, minutes, added = {}, {}, 0
  for i = 1, rows_n do
    local row = rows(i)
    local more = tonumber(ARGV[row + side[2]])
    if more > 0 then
      local at = tonumber(ARGV[row + rows_minute])
      local minute = string.format('%.0f', at)
      if not sums[minute] then
        sums[minute] = whole(redis.call('HGET', side[1], minute) or '0') or 0
        minutes[#minutes + 1] = minute
      end
      sums[minute] = sums[minute] + more
      added = added + more
      low, last = math.min(low or at, at), math.max(last, at)
    end
  end
  plans[s] = { low = low, last = last, total = total + added, sums = sums, minutes = minutes }
end
for s, side in ipairs({ { metrics_completed }, { metrics_failed } }) do
  local plan = plans[s]
  if #plan.minutes > 0 then
    local old = {}
    local floor = plan.last - keep + 1
    while plan.low < floor and #old < 500 do
      old[#old + 1] = string.format('%.0f', plan.low)
      plan.low = plan.low + 1
    end
    if #old > 0 then redis.call('HDEL', side[1], unpack(old)) end
    local set = { 'low', string.format('%.0f', plan.low), 'last', string.format('%.0f', plan.last),
      'total', string.format('%.0f', plan.total), 'keep', string.format('%.0f', keep) }
    for _, minute in ipairs(plan.minutes) do
      if tonumber(minute) >= plan.low then
        set[#set + 1] = minute
        set[#set + 1] = string.format('%.0f', plan.sums[minute])
      end
    end
    redis.call('HSET', side[1], unpack(set))
  end
end
return 'ok'
