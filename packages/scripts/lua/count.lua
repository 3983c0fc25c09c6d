-- Adds ended jobs to the counts per minute and lets old minutes go, at most 500 a call.
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
