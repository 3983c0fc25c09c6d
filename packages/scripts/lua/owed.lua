-- Reads effects owed to other queues that are due, oldest first.
redis.call('HLEN', outbox)
local ids = redis.call('ZRANGEBYSCORE', outbox_due, '-inf', string.format('%.0f', now),
  'LIMIT', 0, limit)
if #ids == 0 then return {} end
local said, out = redis.call('HMGET', outbox, unpack(ids)), {}
for i = 1, #ids do out[i] = { ids[i], said[i] or '' } end
return out
