-- Pauses or resumes a queue; resuming wakes the workers.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, wait, prioritized, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local bad
local number = {}
local function int(at, name)
  local text = ARGV[at]
  if number[text] then return number[text] end
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then
      number[text] = value
      return value
    end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end
local paused = int(1, 'paused')
if paused > 1 then bad = bad or 'paused' end
if not bad and #KEYS ~= 6 then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_max = tonumber(opts[2] or '10000') or 10000
-- Buffers the events of this call. A flush writes one stream entry: pairs of `<code><id>` and a payload.
-- Payloads over 8 KB are left in the job's hash; the code is then upper case.
local ev, ev_n, ev_bytes = {}, 0, 0
if not (events_max >= 0 and events_max <= 9007199254740991 and events_max % 1 == 0) then
  events_max = 10000
end

local function flush_events()
  if ev_n == 0 then return end
  local how = events_max < 1000 and '=' or '~'
  -- pcall: after the first write nothing may raise, and a stream can only fail by its own last id.
  redis.pcall('XADD', events, 'MAXLEN', how, events_max, '*', unpack(ev))
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
