-- Reads counts per minute of completed or failed jobs, newest minute first.
local key = metrics_completed
if kind == 'failed' then key = metrics_failed
elseif kind ~= 'completed' then return redis.error_reply('EMQARG kind') end
local function whole(text)
  local value = tonumber(text)
  return value and value >= 0 and value % 1 == 0 and value or 0
end
local known = redis.call('HMGET', key, 'total', 'last', 'low', 'keep')
local out, minutes = {}, {}
local last = whole(known[2])
minutes[1] = string.format('%.0f', last)
for i = 0, math.min(count, newest + 1) - 1 do
  minutes[#minutes + 1] = string.format('%.0f', newest - i)
end
local counts = redis.call('HMGET', key, unpack(minutes))
for i = 2, #minutes do out[i - 1] = whole(counts[i]) end
return { whole(known[1]), last, whole(counts[1]), whole(known[3]), whole(known[4]), out }
