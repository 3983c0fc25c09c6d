-- Removes every key of jobs that are in trash. An id that is not is somebody's again and is left alone.
redis.call('ZCARD', trash)
redis.call('SCARD', extras)
redis.call('HLEN', meta)
local buried = 0
for i = 1, jobs_n do
  local at = jobs_at + (i - 1) * jobs_w
  local id = string.sub(KEYS[at + 1], jobs_id)
  if redis.call('ZREM', trash, id) == 1 then
    redis.call('UNLINK', KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[at + 5])
    redis.call('SREM', extras, id)
    buried = buried + 1
  end
end
if buried > 0 and redis.call('SCARD', extras) == 0 then redis.call('HDEL', meta, 'extras') end
return buried
