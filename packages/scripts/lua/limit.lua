-- Sets or lifts a limit of the queue and wakes the workers where it was lifted or raised.
local opts = redis.call('HMGET', meta, 'paused', 'rate.max')
local FOREVER = '9007199254740991'
local marked = redis.call('ZCARD', marker)
--@include marker
local next_ids = next_up()
local count, left = redis.call('GET', limiter), redis.call('PTTL', limiter)
local held_by_hand = count == FOREVER and left > 0
if kind == 'rate' and most > 0 and ms == 0 then return redis.error_reply('EMQARG ms') end
if not ({ concurrency = 1, rate = 1, events = 1, hold = 1 })[kind] then return redis.error_reply('EMQARG kind') end
--@include passes_full
if kind == 'concurrency' then
  if most > 0 then redis.call('HSET', meta, 'concurrency', string.format('%.0f', most))
  else redis.call('HDEL', meta, 'concurrency') end
elseif kind == 'rate' then
  if most > 0 then
    redis.call('HSET', meta, 'rate.max', string.format('%.0f', most), 'rate.ms',
      string.format('%.0f', ms))
  else
    redis.call('HDEL', meta, 'rate.max', 'rate.ms')
    -- Workers that use the lean step are sent to the one that sees the hold.
    if held_by_hand then redis.call('HSET', meta, 'rate.max', '0') end
  end
elseif kind == 'events' then
  redis.call('HSET', meta, 'events.max', string.format('%.0f', most))
  return 1
elseif ms > 0 then
  redis.call('SET', limiter, FOREVER, 'PX', string.format('%.0f', ms))
  redis.call('HSETNX', meta, 'rate.max', '0')
elseif held_by_hand then
  redis.call('UNLINK', limiter)
end
if not opts[1] and not (kind == 'hold' and ms > 0) then arm(next_ids) end
return 1
