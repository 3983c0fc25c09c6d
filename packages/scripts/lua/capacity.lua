-- Sets how many jobs may wait in the queue, or lifts the limit.
redis.call('HLEN', meta)
--@include passes_full
if most > 0 then
  redis.call('HSET', meta, 'limit', string.format('%.0f', most))
else
  redis.call('HDEL', meta, 'limit')
end
return most
