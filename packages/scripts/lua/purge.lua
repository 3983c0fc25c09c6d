-- Takes a page of one state, next or oldest first, and puts its ids in trash.
local opts = redis.call('HMGET', meta, 'events.max', 'closing')
local events_text = opts[1]
--@include events
local SETS = {
  prioritized = prioritized, delayed = delayed, completed = completed, failed = failed,
  ['waiting-children'] = waiting_children, held = held, active = active,
}
local set = SETS[state]
local CLOSING = { active = true, outbox = true, staged = true }
if not set and state ~= 'waiting' and not CLOSING[state] then return redis.error_reply('EMQARG state') end
if CLOSING[state] and not opts[2] then
  return redis.error_reply('EMQSTATE the queue is not closing')
end
for _, one in ipairs({
  prioritized, delayed, completed, failed, waiting_children, held, active, trash, outbox_due, staged,
}) do
  redis.call('ZCARD', one)
end
redis.call('LLEN', wait)
redis.call('XLEN', events)
for _, one in ipairs({ priorities, verdicts, owners, outbox }) do redis.call('HLEN', one) end
if limit == 0 then return {} end
-- Flows that were never committed: what they name stands nowhere yet.
if state == 'staged' then
  local dropped = {}
  local popped = redis.call('ZPOPMIN', staged, limit)
  for i = 1, #popped, 2 do dropped[#dropped + 1] = popped[i] end
  return dropped
end
if state == 'outbox' then
  local owed = {}
  local popped = redis.call('ZPOPMIN', outbox_due, limit)
  for i = 1, #popped, 2 do owed[#owed + 1] = popped[i] end
  if #owed > 0 then redis.call('HDEL', outbox, unpack(owed)) end
  return owed
end

local ids = {}
if state == 'waiting' then
  ids = redis.call('RPOP', wait, limit) or {}
else
  local popped = redis.call('ZPOPMIN', set, limit)
  for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
end
if #ids == 0 then return {} end
-- A run whose owner is gone can write nothing any more.
if state == 'active' then redis.call('HDEL', owners, unpack(ids)) end
redis.call('HDEL', priorities, unpack(ids))
redis.call('HDEL', verdicts, unpack(ids))
local dead = {}
for i = 1, #ids do
  dead[#dead + 1] = now
  dead[#dead + 1] = ids[i]
  emit('x', ids[i], state)
end
redis.call('ZADD', trash, unpack(dead))
flush_events()
return ids
