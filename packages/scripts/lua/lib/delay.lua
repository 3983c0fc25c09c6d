-- Adds one id to delayed. Equal times keep their order through a fraction of 1/4096 ms.
local function put_off(id, due)
  local last = redis.call('ZREVRANGEBYSCORE', delayed, '(' .. string.format('%.0f', due + 1),
    string.format('%.0f', due), 'WITHSCORES', 'LIMIT', 0, 1)
  local score = due
  if last[2] then score = math.min(tonumber(last[2]) + 1 / 4096, due + 4095 / 4096) end
  redis.call('ZADD', delayed, score, id)
end
