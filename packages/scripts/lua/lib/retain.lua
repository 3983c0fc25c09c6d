-- Bounded retention: moves at most 100 ids beyond age or count from a finished set to trash.
local to_bury = {}

local function retain(finished, count, age)
  local over = {}
  if age > 0 then
    over = redis.call('ZRANGEBYSCORE', finished, '-inf',
      string.format('%.0f', math.max(now - age, 0)), 'LIMIT', 0, 100)
  end
  if #over == 0 and count < 9007199254740991 then
    local extra = math.min(redis.call('ZCARD', finished) - count, 100)
    if extra > 0 then over = redis.call('ZRANGE', finished, 0, extra - 1) end
  end
  if #over == 0 then return end
  redis.call('ZREM', finished, unpack(over))
  local dead = {}
  for i = 1, #over do
    dead[#dead + 1] = now
    dead[#dead + 1] = over[i]
    to_bury[#to_bury + 1] = over[i]
  end
  redis.call('ZADD', trash, unpack(dead))
end
