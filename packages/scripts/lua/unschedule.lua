-- Removes schedulers with their records from a queue that is being taken down, and names the next ones.
local known = redis.call('HMGET', meta, 'closing')
if not known[1] then return redis.error_reply('EMQSTATE the queue is not closing') end
redis.call('ZCARD', schedulers)
for i = 1, records_n do
  redis.call('ZREM', schedulers, string.sub(KEYS[records_at + i], records_id))
  redis.call('UNLINK', KEYS[records_at + i])
end
if limit == 0 then return {} end
return redis.call('ZRANGE', schedulers, 0, limit - 1)
