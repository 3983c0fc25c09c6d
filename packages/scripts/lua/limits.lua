-- Reads the limits of the queue and how long its rate keeps it from starting more.
local set = redis.call('HMGET', meta, 'concurrency', 'rate.max', 'rate.ms')
return { set[1], set[2], set[3], redis.call('GET', limiter), redis.call('PTTL', limiter) }
