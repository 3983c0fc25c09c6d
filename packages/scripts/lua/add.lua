-- Adds jobs to wait, prioritized or delayed, each once.
local opts = redis.call('HMGET', meta, 'paused', 'closing', 'events.max')
if opts[2] then return redis.error_reply('EMQSTATE the queue is closing') end
local events_max = tonumber(opts[3] or '10000') or 10000
--@include events
--@include sequence

-- Reads that also prove the type of everything written below.
redis.call('LLEN', wait)
redis.call('XLEN', events)
local marked = redis.call('ZCARD', marker)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
redis.call('ZCARD', prioritized)
redis.call('HLEN', priorities)
redis.call('SCARD', extras)
--@include marker
--@include line
--@include delay

if jobs_n ~= items_n then return redis.error_reply('EMQARG items') end
local ids, keys, owned = {}, {}, 0
for i = 1, jobs_n do
  keys[i] = KEYS[jobs_at + i]
  ids[i] = string.sub(keys[i], jobs_id)
  local row = items(i)
  local due = tonumber(ARGV[row + items_timestamp]) + tonumber(ARGV[row + items_delay])
  if due > 8640000000000000 then return redis.error_reply('EMQARG items.delay') end
  if tonumber(ARGV[row + items_flags]) >= 2 then
    owned = owned + 1
    local logs = KEYS[namesakes_at + (owned - 1) * namesakes_w + 1]
    if not logs or string.sub(logs, namesakes_id) ~= ids[i] then
      return redis.error_reply('EMQARG namesakes')
    end
  end
end
if owned ~= namesakes_n then return redis.error_reply('EMQARG namesakes') end
if jobs_n == 0 then return {} end
local retired = redis.call('ZMSCORE', trash, unpack(ids))
-- One EXISTS for the batch: where nothing stands yet, no job needs a look of its own.
local some = redis.call('EXISTS', unpack(keys)) > 0

local function content(i)
  local row = items(i)
  return { ARGV[row + items_name], ARGV[row + items_data], ARGV[row + items_timestamp] }
end

-- By id: the row that is written for it, or what stood there before.
local status, fresh, seen, again, nth = {}, {}, {}, {}, 0
for i = 1, jobs_n do
  local id, row = ids[i], items(i)
  local own = tonumber(ARGV[row + items_flags]) >= 2
  if own then nth = nth + 1 end
  local old, trashed, twin = {}, retired[i], seen[id]
  if twin then
    old, trashed = type(twin) == 'table' and twin or content(twin), false
  elseif some then
    old = redis.call('HMGET', keys[i], 'name', 'data', 'timestamp')
  end
  status[i], seen[id] = 'added', i
  if trashed and own or not trashed and not old[1] then
    fresh[#fresh + 1] = { i, trashed and nth or 0 }
  elseif old[1] then
    seen[id] = old
    if old[1] ~= ARGV[row + items_name] or old[2] ~= ARGV[row + items_data]
      or old[3] ~= ARGV[row + items_timestamp] then
      status[i] = 'duplicate'
      again[#again + 1] = id
    end
  end
  -- Else a minted id in trash: a resent add of a job that has already come and gone.
end

local first_due = tonumber(head[2])
for n = 1, #fresh do
  local i, namesake = fresh[n][1], fresh[n][2]
  local id, row = ids[i], items(i)
  if namesake > 0 then
    -- The first write allocates, or an add would slip past maxmemory behind the UNLINK.
    redis.call('HSET', keys[i], 'name', ARGV[row + items_name])
    local at = namesakes_at + (namesake - 1) * namesakes_w
    redis.call('UNLINK', keys[i], KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4])
    redis.call('ZREM', trash, id)
    redis.call('SREM', extras, id)
    redis.call('HDEL', priorities, id)
  end
  local hash = { 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
    'timestamp', ARGV[row + items_timestamp] }
  local function field(name, column, default)
    local value = ARGV[row + column]
    if value ~= default then hash[#hash + 1] = name; hash[#hash + 1] = value end
  end
  field('opts', items_opts, '')
  field('delay', items_delay, '0')
  field('priority', items_priority, '0')
  redis.call('HSET', keys[i], unpack(hash))
  local priority, delay = tonumber(ARGV[row + items_priority]), tonumber(ARGV[row + items_delay])
  if priority > 0 then redis.call('HSET', priorities, id, priority) end
  local due = tonumber(ARGV[row + items_timestamp]) + delay
  if delay > 0 then
    put_off(id, due)
    if not first_due or due < first_due then first_due = due end
    emit('d', id, string.format('%.0f', due))
  else
    local newest = tonumber(ARGV[row + items_flags]) % 2 == 1
    line_up(id, priority > 0 and priority or nil, newest and 'newest')
    emit('w', id, ARGV[row + items_name])
  end
end
flush_line()
save_sequence()
if not opts[1] then
  arm(in_line)
  if first_due and first_due ~= tonumber(head[2]) then arm_due(first_due) end
end
for i = 1, #again do emit('u', again[i], '') end
flush_events()
return status
