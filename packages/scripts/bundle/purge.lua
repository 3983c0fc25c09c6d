-- Takes a page of one state, next or oldest first, and puts its ids in trash.
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
local meta, wait, prioritized, delayed, active, owners, completed, failed, waiting_children, held, trash, priorities, verdicts, outbox, outbox_due, staged, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local limit
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  limit = b0 * 100 + b1 * 10 + b2 - 5328
end
if limit > 500 then bad = bad or 'limit' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'now' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local state = ARGV[3]
if not bad and #KEYS ~= 18 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'events.max', 'closing')
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
