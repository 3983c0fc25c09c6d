-- Says of jobs that they must end; those not running move to the head of the line to end without a run.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, wait, prioritized, delayed, active, completed, failed, waiting_children, held, verdicts, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local items_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  items_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if items_n > 20 then bad = bad or 'items' end
local reason = ARGV[2]
local items_base, items_w = 2, 1
local function items(row) return items_base + (row - 1) * items_w end
local items_id = 1
if not bad and #KEYS ~= 13 then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
-- Buffers the events of this call. A flush writes one stream entry: pairs of `<code><id>` and a payload.
-- Payloads over 8 KB are left in the job's hash; the code is then upper case.
local ev, ev_n, ev_bytes = {}, 0, 0
-- How many entries the stream keeps, as a number and as text: a number is written out anew for each command.
local events_max, events_most = 10000, '10000'
if events_text then
  local most = tonumber(events_text)
  if most and most >= 0 and most <= 9007199254740991 and most % 1 == 0 then
    events_max, events_most = most, string.format('%.0f', most)
  end
end

local function flush_events()
  if ev_n == 0 then return end
  local how = events_max < 1000 and '=' or '~'
  -- pcall: after the first write nothing may raise, and a stream can only fail by its own last id.
  redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev))
  ev, ev_n, ev_bytes = {}, 0, 0
end

local function emit(code, id, value)
  if events_max == 0 then return end
  local size = #value
  if size > 8192 then code, value, size = string.upper(code), '', 0 end
  size = size + #id
  if ev_n >= 200 or ev_bytes + size > 65536 then flush_events() end
  ev[ev_n + 1] = code .. id
  ev[ev_n + 2] = value
  ev_n, ev_bytes = ev_n + 2, ev_bytes + size
end
if #reason > 4096 then return redis.error_reply('EMQARG reason') end
local SETS = {
  { 'active', active }, { 'prioritized', prioritized }, { 'delayed', delayed },
  { 'completed', completed }, { 'failed', failed },
  { 'waiting-children', waiting_children }, { 'held', held },
}
local marked = redis.call('ZCARD', marker)
-- Wakes blocked workers. Members are ids of waiting jobs at score 0; the next due time stands under a
-- control character, which no id may hold.
local function arm(ids)
  local add = {}
  for i = 1, math.min(#ids, 16 - marked) do
    add[#add + 1] = 0
    add[#add + 1] = ids[i]
  end
  if #add > 0 then redis.call('ZADD', marker, unpack(add)) end
end

-- Ids to be claimed next: whoever wakes by one looks at the right place.
local function next_up()
  local ids = redis.call('LRANGE', wait, -16, -1)
  if #ids == 0 then ids = redis.call('ZRANGE', prioritized, 0, 15) end
  return ids
end

local function arm_due(due) redis.call('ZADD', marker, due, '\1') end
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
-- An administrator must be able to act on a server whose memory is used up. The first write is one that
-- maxmemory lets pass; what comes after one passes too. No field is named like this.
redis.call('HDEL', meta, '')
if #front > 0 then redis.call('RPUSH', wait, unpack(front)) end
if #doomed > 0 then
  redis.call('HSET', verdicts, unpack(doomed))
  redis.call('HSET', meta, 'verdicts', '1')
end
if not opts[1] then arm(front) end
flush_events()
return out
