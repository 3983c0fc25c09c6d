-- Appends lines to a job's log and keeps the last ones.
--@include lease
--@include write_of
redis.call('HLEN', meta)
redis.call('ZCARD', trash)
redis.call('HLEN', owners)
redis.call('SCARD', extras)
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
if keep == 0 then return redis.error_reply('EMQARG keep') end
local key, logs = KEYS[jobs_at + 1], KEYS[jobs_at + 2]
local id = string.sub(key, jobs_id)
redis.call('LLEN', logs)
local no = refused(key, id)
if no then return { no, 0 } end
if lines_n == 0 then return { 'ok', redis.call('LLEN', logs) } end
-- Named before the list stands, so that nobody removes the job and leaves the list.
redis.call('SADD', extras, id)
redis.call('HSET', meta, 'extras', '1')
local text = {}
for i = 1, lines_n do text[i] = ARGV[lines(i) + lines_line] end
redis.call('RPUSH', logs, unpack(text))
redis.call('LTRIM', logs, -keep, -1)
return { 'ok', redis.call('LLEN', logs) }
