-- Notes how far a job is and tells it.
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
local meta, owners, trash, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
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
if jobs_n > 1 then bad = bad or 'jobs' end
local token = ARGV[2]
local progress = ARGV[3]
local jobs_at, jobs_w = 5, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
-- Whether a job may be written to: it stands, and a run that names its token still holds the lease.
local function refused(key, id)
  if redis.pcall('HEXISTS', key, 'name') ~= 1 or redis.call('ZSCORE', trash, id) then
    return 'EMQMISSING no such job'
  end
  if token == '' then return nil end
  local held = lease_of(redis.call('HGET', owners, id))
  if held ~= token then return 'EMQSTALE the run holds no lease' end
end
redis.call('ZCARD', trash)
redis.call('HLEN', owners)
redis.call('XLEN', events)
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
local key = KEYS[jobs_at + 1]
local id = string.sub(key, jobs_id)
local no = refused(key, id)
if no then return no end
redis.call('HSET', key, 'progress', progress)
emit('g', id, progress)
flush_events()
return 'ok'
