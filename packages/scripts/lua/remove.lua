-- Takes jobs out of the state they stand in, never out of active, and puts them in trash.
local opts = redis.call('HMGET', meta, 'events.max')
local events_text = opts[1]
--@include events
-- Only `wait` is searched; that costs its length, so a call does it for at most 20 ids.
local WALKS = 20
local SETS = {
  { 'active', active }, { 'prioritized', prioritized }, { 'delayed', delayed },
  { 'completed', completed }, { 'failed', failed },
  { 'waiting-children', waiting_children }, { 'held', held },
}
for _, set in ipairs(SETS) do redis.call('ZCARD', set[2]) end
redis.call('LLEN', wait)
redis.call('ZCARD', trash)
redis.call('XLEN', events)
redis.call('HLEN', priorities)
redis.call('HLEN', verdicts)
if items_n == 0 then return {} end
local ids, scores = {}, {}
for i = 1, items_n do ids[i] = ARGV[items(i) + items_id] end
for s, set in ipairs(SETS) do scores[s] = redis.call('ZMSCORE', set[2], unpack(ids)) end
local trashed = redis.call('ZMSCORE', trash, unpack(ids))

local out, met, gone, dead, walks = {}, {}, {}, {}, 0
local leave = {}
for s = 1, #SETS do leave[s] = {} end
for i = 1, items_n do
  local id = ids[i]
  local places, place = {}, nil
  for s = #SETS, 1, -1 do
    if scores[s][i] then
      places[#places + 1] = s
      place = s
    end
  end
  local state = place and SETS[place][1]
  local ended = state == 'completed' or state == 'failed'
  if met[id] then
    out[i] = 'EMQMISSING named twice'
  elseif not place and trashed[i] then
    -- A removal sent again: its keys still stand, and the caller buries them.
    out[i] = only == '' and 'ok' or 'EMQMISSING no such job'
  elseif state == 'active' then
    out[i] = 'EMQSTATE the job is active'
  elseif state and only ~= '' and only ~= state or not state and only ~= '' and only ~= 'waiting' then
    out[i] = 'EMQSTATE the job is not ' .. only
  elseif ended and tonumber(scores[place][i]) > before then
    out[i] = 'EMQSTATE the job ended later'
  elseif not place and walks == WALKS then
    out[i] = 'EMQRETRY too many waiting jobs for one call'
  else
    local found = true
    if not place then
      walks = walks + 1
      -- From the end where the oldest stand, which are the ones removed most.
      found = redis.call('LREM', wait, -1, id) > 0
      state = 'waiting'
    end
    out[i] = found and 'ok' or 'EMQMISSING no such job'
    if found then
      gone[#gone + 1] = id
      dead[#dead + 1] = now
      dead[#dead + 1] = id
      for _, s in ipairs(places) do table.insert(leave[s], id) end
      emit('x', id, state)
    end
  end
  met[id] = true
end
for s, set in ipairs(SETS) do
  if #leave[s] > 0 then redis.call('ZREM', set[2], unpack(leave[s])) end
end
if #gone > 0 then
  redis.call('HDEL', priorities, unpack(gone))
  redis.call('HDEL', verdicts, unpack(gone))
  redis.call('ZADD', trash, unpack(dead))
end
flush_events()
return out
