-- Finds jobs that deduplication keeps back although no record names them; puts them in line when asked to.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
--@include sequence
--@include line
--@include delay
if records_n ~= jobs_n then return redis.error_reply('EMQARG records') end
redis.call('LLEN', wait)
redis.call('XLEN', events)
redis.call('ZCARD', prioritized)
redis.call('ZCARD', held)
redis.call('HLEN', priorities)
local marked = redis.call('ZCARD', marker)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
--@include marker
local out, alone, met = {}, {}, {}
for i = 1, jobs_n do
  local key, record = KEYS[jobs_at + i], KEYS[records_at + i]
  local id, dedup = string.sub(key, jobs_id), string.sub(record, records_id)
  local job = redis.pcall('HMGET', key, 'name', 'deid', 'timestamp', 'delay')
  if job.err or not job[1] or met[id] or not redis.call('ZSCORE', held, id) then
    out[i] = 'gone'
  elseif job[2] and job[2] ~= dedup then
    out[i] = 'moved'
  elseif job[2] and redis.pcall('HGET', record, 'next') == id then
    out[i] = 'kept'
  else
    out[i] = 'alone'
    alone[#alone + 1] = { id, (tonumber(job[3]) or 0) + (tonumber(job[4]) or 0) }
  end
  met[id] = true
end
if fix == 0 then return out end
local first_due
for n = 1, #alone do
  local id, due = unpack(alone[n])
  redis.call('ZREM', held, id)
  if due > now and due <= 8640000000000000 then
    put_off(id, math.floor(due))
    if not first_due or due < first_due then first_due = math.floor(due) end
    emit('d', id, string.format('%.0f', due))
  else
    line_up(id, rank_of(redis.call('HGET', priorities, id)), false)
    emit('w', id, '')
  end
end
flush_line()
save_sequence()
if not opts[1] then
  arm(in_line)
  if first_due and not (head[2] and tonumber(head[2]) <= first_due) then arm_due(first_due) end
end
flush_events()
return out
