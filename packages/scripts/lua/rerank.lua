-- Gives jobs in line another priority and place; of delayed ones it changes what they will have.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
--@include sequence
--@include line
local marked = redis.call('ZCARD', marker)
--@include marker
redis.call('LLEN', wait)
redis.call('HLEN', priorities)
redis.call('XLEN', events)
for _, one in ipairs({ prioritized, delayed, trash }) do redis.call('ZCARD', one) end
if jobs_n == 0 then return {} end
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local put_back = redis.call('ZMSCORE', delayed, unpack(ids))
local in_rank = redis.call('ZMSCORE', prioritized, unpack(ids))
local trashed = redis.call('ZMSCORE', trash, unpack(ids))

local out, met, changed = {}, {}, {}
for i = 1, jobs_n do
  local id, key = ids[i], KEYS[jobs_at + i]
  if redis.pcall('HEXISTS', key, 'name') ~= 1 or trashed[i] then
    out[i] = 'EMQMISSING no such job'
  elseif met[id] then
    out[i] = 'EMQSTATE named twice'
  elseif put_back[i] then
    out[i] = 'ok'
    changed[#changed + 1] = { id, key }
  -- A few ids a call, so `wait` may be searched.
  elseif in_rank[i] and redis.call('ZREM', prioritized, id) == 1
    or not in_rank[i] and redis.call('LREM', wait, -1, id) == 1 then
    out[i] = 'ok'
    changed[#changed + 1] = { id, key }
    line_up(id, priority > 0 and priority or nil, lifo == 1 and 'newest')
    emit('w', id, '')
  else
    out[i] = 'EMQSTATE the job is neither in line nor delayed'
  end
  met[id] = true
end
for n = 1, #changed do
  local id, key = unpack(changed[n])
  redis.call('HSET', key, 'priority', priority)
  if priority > 0 then
    redis.call('HSET', priorities, id, priority)
  else
    redis.call('HDEL', priorities, id)
  end
end
flush_line()
save_sequence()
if not opts[1] then arm(in_line) end
flush_events()
return out
