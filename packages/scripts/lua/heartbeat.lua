-- Notes that a worker lives, and drops those not heard of for long; a ttl of 0 takes the worker out.
redis.call('HLEN', workers_info)
local dead = redis.call('ZRANGEBYSCORE', workers, '-inf',
  string.format('%.0f', math.max(now - ttl, 0)), 'LIMIT', 0, 100)
if ttl == 0 then dead = { id } end
if #dead > 0 then
  redis.call('ZREM', workers, unpack(dead))
  redis.call('HDEL', workers_info, unpack(dead))
end
if ttl > 0 then
  redis.call('ZADD', workers, now, id)
  redis.call('HSET', workers_info, id, info)
end
return redis.call('ZCARD', workers)
