-- Pauses or resumes a queue; resuming wakes the workers.
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
local meta, wait, prioritized, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local paused
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  paused = b0 * 100 + b1 * 10 + b2 - 5328
end
if paused > 1 then bad = bad or 'paused' end
if not bad and #KEYS ~= 6 then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
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
local next_ids = next_up()
redis.call('XLEN', events)
local was = opts[1] and 1 or 0
if was == paused then return 0 end
-- An administrator must be able to act on a server whose memory is used up. The first write is one that
-- maxmemory lets pass; what comes after one passes too. No field is named like this.
redis.call('HDEL', meta, '')
if paused == 1 then
  redis.call('HSET', meta, 'paused', '1')
  emit('p', '', '')
else
  redis.call('HDEL', meta, 'paused')
  arm(next_ids)
  emit('q', '', '')
end
flush_events()
return 1
