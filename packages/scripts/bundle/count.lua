-- Adds ended jobs to the counts per minute and lets old minutes go, at most 500 a call.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, metrics_completed, metrics_failed = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local rows_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  rows_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if rows_n > 60 then bad = bad or 'rows' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'keep' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local keep = ARGV[2] + 0
if keep > 1000000 then bad = bad or 'keep' end
local rows_base, rows_w = 2, 1
local function rows(row) return rows_base + (row - 1) * rows_w end
local rows_numbers = 1
local rows_minute, rows_completed, rows_failed = 1, 2, 3
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= rows_base + rows_n * rows_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local rows_number = {}
for row = rows_base, rows_base + (rows_n - 1) * rows_w, rows_w do
  local text = ARGV[row + 1]
  if not rows_number[text] then
    local n0, n1, n2 = string.match(text, '^(%d+) (%d+) (%d+)$')
    if not n0 then return redis.error_reply('EMQARG rows.numbers') end
    local many = { n0 + 0, n1 + 0, n2 + 0 }
    if many[1] > 1000000000 then bad = bad or 'rows.minute' end
    if many[2] > 4294967296 then bad = bad or 'rows.completed' end
    if many[3] > 4294967296 then bad = bad or 'rows.failed' end
    rows_number[text] = many
  end
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
    local number = rows_number[ARGV[rows(i) + rows_numbers]]
    local more = number[side[2]]
    if more > 0 then
      local at = number[rows_minute]
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
