-- Replaces the payload of a job.
--@include lease
--@include write_of
redis.call('ZCARD', trash)
redis.call('HLEN', owners)
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
local key = KEYS[jobs_at + 1]
local no = refused(key, string.sub(key, jobs_id))
if no then return no end
redis.call('HSET', key, 'data', data)
return 'ok'
