-- Adds one id to delayed. Equal times keep their order through a fraction of 1/4096 ms, coarser where
-- a double holds no such fraction any more (from the year 2039 on).
local function put_off(id, due)
  local last = redis.call('ZREVRANGEBYSCORE', delayed, '(' .. string.format('%.0f', due + 1),
    string.format('%.0f', due), 'WITHSCORES', 'LIMIT', 0, 1)
  local score, part = due, 1 / 4096
  while due + part - due ~= part do part = part * 2 end
  if last[2] then score = math.min(tonumber(last[2]) + part, due + 1 - part) end
  redis.call('ZADD', delayed, score, id)
end
