-- Takes jobs out of the state they stand in, never out of active, and puts them in trash.
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
local meta, wait, prioritized, delayed, active, completed, failed, waiting_children, held, trash, priorities, verdicts, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local items_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  items_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if items_n > 100 then bad = bad or 'items' end
if not string.find(ARGV[2] .. ' ' .. ARGV[4], '^%d+ %d+$') then
  for _, arg in ipairs({ { 2, 'now' }, { 4, 'before' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local only = ARGV[3]
local before = ARGV[4] + 0
if before > 9007199254740991 then bad = bad or 'before' end
local items_base, items_w = 4, 1
local function items(row) return items_base + (row - 1) * items_w end
local items_id = 1
if not bad and #KEYS ~= 14 then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'events.max')
local events_text = opts[1]
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
