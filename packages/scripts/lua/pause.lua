-- Pauses or resumes a queue; resuming wakes the workers.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
local marked = redis.call('ZCARD', marker)
--@include marker
local next_ids = next_up()
redis.call('XLEN', events)
local was = opts[1] and 1 or 0
if was == paused then return 0 end
--@include passes_full
if paused == 1 then
  redis.call('HSET', meta, 'paused', '1')
  emit('p', '', '')
else
  redis.call('HDEL', meta, 'paused')
  arm(next_ids)
  emit('q', '', '')
end
flush_events()
return 1
