-- Says of jobs that they must end; those not running move to the head of the line to end without a run.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include events
if #reason > 4096 then return redis.error_reply('EMQARG reason') end
local SETS = {
  { 'active', active }, { 'prioritized', prioritized }, { 'delayed', delayed },
  { 'completed', completed }, { 'failed', failed },
  { 'waiting-children', waiting_children }, { 'held', held },
}
local marked = redis.call('ZCARD', marker)
--@include marker
redis.call('LLEN', wait)
redis.call('XLEN', events)
for _, set in ipairs(SETS) do redis.call('ZCARD', set[2]) end
redis.call('HLEN', verdicts)
if items_n == 0 then return {} end
local ids, scores = {}, {}
for i = 1, items_n do ids[i] = ARGV[items(i) + items_id] end
for s, set in ipairs(SETS) do scores[s] = redis.call('ZMSCORE', set[2], unpack(ids)) end
local known = redis.call('HMGET', verdicts, unpack(ids))

local out, met, front, doomed = {}, {}, {}, {}
for i = 1, items_n do
  local id, state, set = ids[i], 'waiting', nil
  for s = #SETS, 1, -1 do
    if scores[s][i] then state, set = SETS[s][1], SETS[s][2] end
  end
  local moved = false
  if met[id] then
    out[i] = met[id]
  elseif state == 'completed' or state == 'failed' or state == 'waiting-children' then
    out[i] = 'EMQSTATE the job is ' .. state
  elseif state == 'active' then
    out[i] = 'ok'
  elseif state == 'waiting' then
    -- A few ids a call, so `wait` may be searched.
    moved = redis.call('LREM', wait, -1, id) > 0
    out[i] = moved and 'ok' or 'EMQMISSING no such job'
  else
    moved = redis.call('ZREM', set, id) == 1
    out[i] = 'ok'
  end
  if moved then
    -- Ahead of all lines, whatever its priority: it only has to end.
    table.insert(front, 1, id)
    emit('w', id, '')
  end
  -- The first verdict stays.
  if out[i] == 'ok' and not known[i] and not met[id] then
    doomed[#doomed + 1] = id
    doomed[#doomed + 1] = 'cancelled:' .. reason
  end
  met[id] = out[i]
end
--@include passes_full
if #front > 0 then redis.call('RPUSH', wait, unpack(front)) end
if #doomed > 0 then
  redis.call('HSET', verdicts, unpack(doomed))
  redis.call('HSET', meta, 'verdicts', '1')
end
if not opts[1] then arm(front) end
flush_events()
return out
