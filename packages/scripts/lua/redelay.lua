-- Gives delayed jobs another delay, counted from now.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
--@include delay
if now + delay > 8640000000000000 then return redis.error_reply('EMQARG delay') end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
redis.call('ZCARD', marker)
redis.call('XLEN', events)
local out, moved, met = {}, {}, {}
for i = 1, jobs_n do
  local key = KEYS[jobs_at + i]
  local id = string.sub(key, jobs_id)
  local stands = redis.pcall('HEXISTS', key, 'name') == 1
  if not stands then
    out[i] = 'EMQMISSING no such job'
  elseif met[id] or not redis.call('ZSCORE', delayed, id) then
    out[i] = 'EMQSTATE the job is not delayed'
  else
    moved[#moved + 1] = { id, key }
    out[i] = 'ok'
  end
  met[id] = true
end
local due = now + delay
for n = 1, #moved do
  local id, key = unpack(moved[n])
  redis.call('ZREM', delayed, id)
  put_off(id, due)
  redis.call('HSET', key, 'delay', string.format('%.0f', delay))
  emit('d', id, string.format('%.0f', due))
end
if #moved > 0 and not opts[1] and due < tonumber(head[2]) + 1 then
  redis.call('ZADD', marker, due, '\1')
end
flush_events()
return out
