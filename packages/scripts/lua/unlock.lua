-- Frees a deduplication record; what it kept back takes its place in line.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
--@include sequence
--@include line
--@include delay
if dedups_n ~= 1 then return redis.error_reply('EMQARG dedups') end
redis.call('LLEN', wait)
redis.call('XLEN', events)
redis.call('ZCARD', prioritized)
redis.call('ZCARD', held)
local marked = redis.call('ZCARD', marker)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
--@include marker
local record = KEYS[dedups_at + 1]
local said = redis.call('HMGET', record, 'job', 'next', 'due', 'front')
if not said[1] or job ~= '' and said[1] ~= job then return 0 end
local due = tonumber(said[3])
if not (due and due > now and due <= 8640000000000000) then due = nil end
local rank = rank_of(said[2] and redis.call('HGET', priorities, said[2]))
redis.call('UNLINK', record)
if said[2] and redis.call('ZREM', held, said[2]) == 1 then
  if due then
    put_off(said[2], due)
    emit('d', said[2], string.format('%.0f', due))
  else
    line_up(said[2], rank, said[4] == '1' and 'newest')
    emit('w', said[2], '')
  end
  flush_line()
  save_sequence()
  if not opts[1] then
    arm(in_line)
    if due and not (head[2] and tonumber(head[2]) <= due) then arm_due(due) end
  end
  flush_events()
end
return 1
