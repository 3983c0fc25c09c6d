-- Adds plain jobs to the back of the line, with the fewest keys.
-- A queue with a setting, and a batch of which one stands already, are left to `add`: nothing is written then.
-- Everything stands in line here: a closure, and a table that grows, cost as much as a small command.
local paused, events_text
if redis.call('HLEN', meta) ~= 2 then
  local opts = redis.call('HMGET', meta, 'paused', 'closing', 'limit', 'events.max')
  if opts[2] or opts[3] then return redis.error_reply('EMQRETRY the queue needs add') end
  paused, events_text = opts[1], opts[4]
end
--@include events_max

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
--@include events_in_line
return 'ok'
