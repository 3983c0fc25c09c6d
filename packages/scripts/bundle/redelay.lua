-- Gives delayed jobs another delay, counted from now.
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
local meta, delayed, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if jobs_n > 20 then bad = bad or 'jobs' end
if not string.find(ARGV[2] .. ' ' .. ARGV[3], '^%d+ %d+$') then
  for _, arg in ipairs({ { 2, 'now' }, { 3, 'delay' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local delay = ARGV[3] + 0
if delay > 9007199254740991 then bad = bad or 'delay' end
local jobs_at, jobs_w = 5, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
-- Adds one id to delayed. Equal times keep their order through a fraction of 1/4096 ms, coarser where
-- a double holds no such fraction any more (from the year 2039 on).
local function put_off(id, due)
  local last = redis.call('ZREVRANGEBYSCORE', delayed, '(' .. string.format('%.0f', due + 1),
    string.format('%.0f', due), 'WITHSCORES', 'LIMIT', 0, 1)
  local score, part = due, 1 / 4096
  while due + part - due ~= part do part = part * 2 end
  if last[2] then score = math.min(tonumber(last[2]) + part, due + 1 - part) end
  redis.call('ZADD', delayed, score, id)
end
if now + delay > 8640000000000000 then return redis.error_reply('EMQARG delay') end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
redis.call('ZCARD', marker)
redis.call('XLEN', events)
local out, moved, met = {}, {}, {}
for i = 1, jobs_n do
  local key = KEYS[jobs_at + i]
  local id = string.sub(key, jobs_id)
  local stands = redis.pcall('HEXISTS', key, 'name') == 1
  if not stands then
    out[i] = 'EMQMISSING no such job'
  elseif met[id] or not redis.call('ZSCORE', delayed, id) then
    out[i] = 'EMQSTATE the job is not delayed'
  else
    moved[#moved + 1] = { id, key }
    out[i] = 'ok'
  end
  met[id] = true
end
local due = now + delay
for n = 1, #moved do
  local id, key = unpack(moved[n])
  redis.call('ZREM', delayed, id)
  put_off(id, due)
  redis.call('HSET', key, 'delay', string.format('%.0f', delay))
  emit('d', id, string.format('%.0f', due))
end
if #moved > 0 and not opts[1] and due < tonumber(head[2]) + 1 then
  redis.call('ZADD', marker, due, '\1')
end
flush_events()
return out
