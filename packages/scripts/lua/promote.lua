-- Moves due jobs from delayed to the back of their line; arms a marker that nobody armed.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
--@include sequence
--@include line
local marked = redis.call('ZCARD', marker)
--@include marker
redis.call('LLEN', wait)
redis.call('ZCARD', prioritized)
redis.call('XLEN', events)
redis.call('HLEN', priorities)
local ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', '(' .. string.format('%.0f', now + 1),
  'LIMIT', 0, limit)
if #ids > 0 then
  local rank = redis.call('HMGET', priorities, unpack(ids))
  redis.call('ZREM', delayed, unpack(ids))
  for i = 1, #ids do
    line_up(ids[i], rank_of(rank[i]), false)
    emit('w', ids[i], '')
  end
  flush_line()
  save_sequence()
  flush_events()
end
if not opts[1] and marked == 0 then
  local waiting = next_up()
  -- Begins with a write that maxmemory lets pass: a full server must wake its workers too.
  if #waiting > 0 then redis.call('ZREM', marker, '\1') end
  arm(waiting)
elseif not opts[1] then
  arm(ids)
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { #ids, head[2] and math.floor(tonumber(head[2])) or 0 }
