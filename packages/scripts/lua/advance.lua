-- Moves delayed jobs to the back of their line before they are due: those named, or the next ones due.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
--@include sequence
--@include line
local marked = redis.call('ZCARD', marker)
--@include marker
redis.call('LLEN', wait)
redis.call('ZCARD', prioritized)
redis.call('ZCARD', delayed)
redis.call('XLEN', events)
redis.call('HLEN', priorities)
local out, ids, met = {}, {}, {}
for i = 1, jobs_n do
  local id = string.sub(KEYS[jobs_at + i], jobs_id)
  local stands = redis.pcall('HEXISTS', KEYS[jobs_at + i], 'name') == 1
  if met[id] or not redis.call('ZSCORE', delayed, id) then
    out[i] = stands and 'EMQSTATE the job is not delayed' or 'EMQMISSING no such job'
  else
    ids[#ids + 1] = id
    out[i] = 'ok'
  end
  met[id] = true
end
if jobs_n == 0 and limit > 0 then ids = redis.call('ZRANGE', delayed, 0, limit - 1) end
if #ids > 0 then
  local rank = redis.call('HMGET', priorities, unpack(ids))
  redis.call('ZREM', delayed, unpack(ids))
  for i = 1, #ids do
    line_up(ids[i], rank_of(rank[i]), false)
    emit('w', ids[i], '')
  end
  flush_line()
  save_sequence()
  if not opts[1] then arm(in_line) end
  flush_events()
end
return { out, #ids }
