-- Reads a bounded range of one job's log lines, oldest or newest first, and how many there are.
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
local key = KEYS[jobs_at + 1]
local total = redis.call('LLEN', key)
-- What stands in trash is gone for everyone but bury.
if redis.call('ZSCORE', trash, string.sub(key, jobs_id)) then return { {}, 0 } end
if count == 0 then return { {}, total } end
local last = start + count - 1
if asc == 1 then return { redis.call('LRANGE', key, start, last), total } end
local lines, out = redis.call('LRANGE', key, -last - 1, -start - 1), {}
for i = #lines, 1, -1 do out[#out + 1] = lines[i] end
return { out, total }
