-- Adds plain jobs to the back of the line, with the fewest keys.
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
local meta, wait, trash, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, items_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  items_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if jobs_n > 500 then bad = bad or 'jobs' end
if items_n > 500 then bad = bad or 'items' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'now' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local now_text = ARGV[2]
if now < 10 ^ (#now_text - 1) and now_text ~= '0' then bad = bad or 'now' end
local jobs_at, jobs_w = 6, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local items_base, items_w = 2, 3
local items_name, items_data, items_opts = 1, 2, 3
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- A queue with a setting, and a batch of which one stands already, are left to `add`: nothing is written then.
-- Everything stands in line here: a closure, and a table that grows, cost as much as a small command.
local paused, events_text
if redis.call('HLEN', meta) ~= 2 then
  local opts = redis.call('HMGET', meta, 'paused', 'closing', 'limit', 'events.max')
  if opts[2] or opts[3] then return redis.error_reply('EMQRETRY the queue needs add') end
  paused, events_text = opts[1], opts[4]
end
-- How many entries the stream keeps, as a number and as text: a number is written out anew for each command.
local events_max, events_most = 10000, '10000'
if events_text then
  local most = tonumber(events_text)
  if most and most >= 0 and most <= 9007199254740991 and most % 1 == 0 then
    events_max, events_most = most, string.format('%.0f', most)
  end
end

if jobs_n ~= items_n then return redis.error_reply('EMQARG items') end
if now > 8640000000000000 then return redis.error_reply('EMQARG now') end
if jobs_n == 0 then return 'ok' end
local ids = { unpack(KEYS, jobs_at + 1, jobs_at + jobs_n) }
if jobs_n == 1 then ids[1] = string.sub(ids[1], jobs_id)
else
  local met = {}
  for i = 1, jobs_n do
    local id = string.sub(ids[i], jobs_id)
    if met[id] then return redis.error_reply('EMQARG jobs') end
    met[id], ids[i] = true, id
  end
end

-- Reads that also prove the type of everything written below.
redis.call('LLEN', wait)
redis.call('XLEN', events)
local marked = redis.call('ZCARD', marker)
local known = redis.call('EXISTS', unpack(KEYS, jobs_at + 1, jobs_at + jobs_n)) > 0
if not known and redis.call('ZCARD', trash) > 0 then
  local retired = redis.call('ZMSCORE', trash, unpack(ids))
  for i = 1, jobs_n do known = known or retired[i] end
end
if known then return 'known' end

local ev, ev_n, ev_bytes, row = {}, 0, 0, items_base
for i = 1, jobs_n do
  local name, opts = ARGV[row + items_name], ARGV[row + items_opts]
  if opts == '' then
    redis.call('HSET', KEYS[jobs_at + i], 'name', name, 'data', ARGV[row + items_data], 'timestamp', now_text)
  else
    redis.call('HSET', KEYS[jobs_at + i], 'name', name, 'data', ARGV[row + items_data], 'timestamp', now_text,
      'opts', opts)
  end
  local code = 'w'
  if #name > 8192 then code, name = 'W', '' end
  ev[ev_n + 1] = code .. ids[i]
  ev[ev_n + 2] = name
  ev_n, ev_bytes, row = ev_n + 2, ev_bytes + #ids[i] + #name, row + items_w
end
redis.call('LPUSH', wait, unpack(ids))
if not paused and marked < 16 then
  if jobs_n == 1 then redis.call('ZADD', marker, 0, ids[1])
  else
    local add = {}
    for i = 1, math.min(jobs_n, 16 - marked) do
      add[2 * i - 1] = 0
      add[2 * i] = ids[i]
    end
    redis.call('ZADD', marker, unpack(add))
  end
end
-- Writes the events of a call as `events` does, without its closures: mostly they are one entry.
if events_max > 0 then
  local how, from = events_max < 1000 and '=' or '~', 1
  if ev_n > 200 or ev_bytes > 65536 then
    local bytes = 0
    for n = 1, ev_n, 2 do
      local size = #ev[n] - 1 + #ev[n + 1]
      if n - from >= 200 or bytes + size > 65536 then
        redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev, from, n - 1))
        from, bytes = n, 0
      end
      bytes = bytes + size
    end
  end
  -- pcall: after the first write nothing may raise, and a stream can only fail by its own last id.
  if ev_n > 0 then redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev, from, ev_n)) end
end
return 'ok'
