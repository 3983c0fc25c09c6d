-- Moves due jobs from delayed to the back of their line; arms a marker that nobody armed.
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
local meta, wait, prioritized, pc, delayed, priorities, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
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
if not bad and #KEYS ~= 9 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
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
-- The priority sequence, read before the first write so that a broken counter refuses the whole call.
-- It starts in the middle of its 2^32 places, so that there are as many ahead of the first job.
local seq = tonumber(redis.call('GET', pc) or '2147483648')
if not seq or seq < 0 or seq >= 9007199254740000 or seq % 1 ~= 0 then
  return redis.error_reply('EMQSTATE the priority sequence is not a whole number')
end
local seq_was = seq

local function save_sequence()
  if seq ~= seq_was then redis.call('SET', pc, string.format('%.0f', seq % 4294967296)) end
end
-- Puts ids in line. Buffered, so a batch costs one command per structure. `seq` is the priority
-- sequence; 2^32 keeps priority and sequence exact in a double.
local to_back, to_front, to_ranked, in_line = {}, {}, {}, {}
local ahead, ranks = {}, {}

-- A priority as it stands in `priorities`; any other text is none, so that no score can be refused.
local function rank_of(text)
  local rank = tonumber(text)
  if rank and rank >= 1 and rank <= 2097151 and rank % 1 == 0 then return rank end
end

local function line_up(id, priority, front)
  in_line[#in_line + 1] = id
  local list = front and to_front or to_back
  if priority and front then
    if not ahead[priority] then ranks[#ranks + 1] = priority end
    ahead[priority] = ahead[priority] or {}
    list = ahead[priority]
  elseif priority then
    seq = seq + 1
    to_ranked[#to_ranked + 1] = priority * 4294967296 + seq % 4294967296
    to_ranked[#to_ranked + 1] = id
    return
  end
  if front == 'front' then
    -- The last of a list ends nearest to the head: a batch put back keeps its order.
    table.insert(list, 1, id)
  else
    list[#list + 1] = id
  end
end

-- Takes the places below the head of their priority, as far as there are any.
local function rank_ahead(priority, list)
  local base = priority * 4294967296
  local head = redis.call('ZRANGEBYSCORE', prioritized, string.format('%.0f', base),
    string.format('(%.0f', base + 4294967296), 'WITHSCORES', 'LIMIT', 0, 1)
  local place = head[2] and tonumber(head[2]) - base - 1 or seq % 4294967296
  local places = {}
  for i = 1, #list do
    places[#places + 1] = base + math.max(place + 1 - i, 0)
    places[#places + 1] = list[i]
  end
  redis.call('ZADD', prioritized, unpack(places))
end

local function flush_line()
  if #to_back > 0 then redis.call('LPUSH', wait, unpack(to_back)) end
  if #to_front > 0 then redis.call('RPUSH', wait, unpack(to_front)) end
  if #to_ranked > 0 then redis.call('ZADD', prioritized, unpack(to_ranked)) end
  for i = 1, #ranks do rank_ahead(ranks[i], ahead[ranks[i]]) end
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
redis.call('LLEN', wait)
redis.call('ZCARD', prioritized)
redis.call('XLEN', events)
redis.call('HLEN', priorities)
local ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', '(' .. string.format('%.0f', now + 1),
  'LIMIT', 0, limit)
if #ids > 0 then
  local rank = redis.call('HMGET', priorities, unpack(ids))
  redis.call('ZREM', delayed, unpack(ids))
  for i = 1, #ids do
    line_up(ids[i], rank_of(rank[i]), false)
    emit('w', ids[i], '')
  end
  flush_line()
  save_sequence()
  flush_events()
end
if not opts[1] and marked == 0 then
  local waiting = next_up()
  -- Begins with a write that maxmemory lets pass: a full server must wake its workers too.
  if #waiting > 0 then redis.call('ZREM', marker, '\1') end
  arm(waiting)
elseif not opts[1] then
  arm(ids)
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { #ids, head[2] and math.floor(tonumber(head[2])) or 0 }
