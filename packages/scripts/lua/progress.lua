-- Notes how far a job is and tells it.
local opts = redis.call('HMGET', meta, 'events.max')
local events_text = opts[1]
--@include events
--@include lease
--@include write_of
redis.call('ZCARD', trash)
redis.call('HLEN', owners)
redis.call('XLEN', events)
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
local key = KEYS[jobs_at + 1]
local id = string.sub(key, jobs_id)
local no = refused(key, id)
if no then return no end
redis.call('HSET', key, 'progress', progress)
emit('g', id, progress)
flush_events()
return 'ok'
