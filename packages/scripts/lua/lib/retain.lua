-- Bounded retention: moves at most 100 ids beyond age or count from a finished set to trash.
local to_bury = {}

local function retain(finished, count, age)
  local most = 0
  if age > 0 then
    most = #redis.call('ZRANGEBYSCORE', finished, '-inf',
      string.format('%.0f', math.max(now - age, 0)), 'LIMIT', 0, 100)
  end
  -- Both begin with the oldest, so the longer of the two holds the other.
  if count < 9007199254740991 then
    most = math.max(most, math.min(redis.call('ZCARD', finished) - count, 100))
  end
  if most == 0 then return end
  local over = redis.call('ZRANGE', finished, 0, most - 1)
  redis.call('ZREM', finished, unpack(over))
  local dead = {}
  for i = 1, #over do
    dead[#dead + 1] = now
    dead[#dead + 1] = over[i]
    to_bury[#to_bury + 1] = over[i]
  end
  redis.call('ZADD', trash, unpack(dead))
end
