-- Ends runs in any way: completed, failed, retried, delayed or given back.
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
local meta, wait, prioritized, pc, delayed, priorities, active, owners, verdicts, completed, failed, trash, extras, held, outbox, outbox_due, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18], KEYS[19]
if #ARGV < 6 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 9 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, dedups_n, items_n
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8 = string.byte(ARGV[1], 1, 9)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  dedups_n = b3 * 100 + b4 * 10 + b5 - 5328
  items_n = b6 * 100 + b7 * 10 + b8 - 5328
end
if jobs_n > 500 then bad = bad or 'jobs' end
if dedups_n > 500 then bad = bad or 'dedups' end
if items_n > 500 then bad = bad or 'items' end
if not string.find(ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5] .. ' ' .. ARGV[6], '^%d+ %d+ %d+ %d+ %d+$') then
  for _, arg in ipairs({ { 2, 'now' }, { 3, 'keepCount' }, { 4, 'keepAge' }, { 5, 'failCount' }, { 6, 'failAge' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local keepCount = ARGV[3] + 0
if keepCount > 9007199254740991 then bad = bad or 'keepCount' end
local keepAge = ARGV[4] + 0
if keepAge > 9007199254740991 then bad = bad or 'keepAge' end
local failCount = ARGV[5] + 0
if failCount > 9007199254740991 then bad = bad or 'failCount' end
local failAge = ARGV[6] + 0
if failAge > 9007199254740991 then bad = bad or 'failAge' end
local jobs_at, jobs_w = 19, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local dedups_at, dedups_w = jobs_at + jobs_n * jobs_w, 1
local dedups_id = #stamp - 4 + #'v2:dedup:' + 1
local items_base, items_w = 6, 6
local function items(row) return items_base + (row - 1) * items_w end
local items_numbers, items_token, items_how, items_value, items_stack, items_letter = 1, 2, 3, 4, 5, 6
local items_atm, items_ats, items_delay, items_lock, items_atm_text, items_ats_text, items_delay_text, items_lock_text = 1, 2, 3, 4, 5, 6, 7, 8
if not bad and #KEYS ~= dedups_at + dedups_n * dedups_w then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local items_number = {}
for row = items_base, items_base + (items_n - 1) * items_w, items_w do
  local text = ARGV[row + 1]
  if not items_number[text] then
    local n0, n1, n2, n3 = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
    if not n0 then return redis.error_reply('EMQARG items.numbers') end
    local many = { n0 + 0, n1 + 0, n2 + 0, n3 + 0, n0, n1, n2, n3 }
    if many[1] > 9007199254740991 then bad = bad or 'items.atm' end
    if many[2] > 9007199254740991 then bad = bad or 'items.ats' end
    if many[3] > 9007199254740991 then bad = bad or 'items.delay' end
    if many[4] > 500 then bad = bad or 'items.lock' end
    items_number[text] = many
  end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'paused', 'events.max', 'concurrency')
local events_text = opts[2]
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
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
-- Bounded retention: moves at most 100 ids beyond age or count from a finished set to trash.
local to_bury = {}

local function retain(finished, count, age)
  local most = 0
  if age > 0 then
    most = #redis.call('ZRANGEBYSCORE', finished, '-inf',
      string.format('%.0f', math.max(now - age, 0)), 'LIMIT', 0, 100)
  end
  -- Both begin with the oldest, so the longer of the two holds the other.
  if count < 9007199254740991 then
    most = math.max(most, math.min(redis.call('ZCARD', finished) - count, 100))
  end
  if most == 0 then return end
  local over = redis.call('ZRANGE', finished, 0, most - 1)
  redis.call('ZREM', finished, unpack(over))
  local dead = {}
  for i = 1, #over do
    dead[#dead + 1] = now
    dead[#dead + 1] = over[i]
    to_bury[#to_bury + 1] = over[i]
  end
  redis.call('ZADD', trash, unpack(dead))
end

if jobs_n ~= items_n then return redis.error_reply('EMQARG items') end
if jobs_n == 0 then return { {}, {} } end
local HOW = { completed = 1, failed = 1, retry = 1, delay = 1, release = 1 }
for i = 1, items_n do
  if not HOW[ARGV[items(i) + items_how]] then return redis.error_reply('EMQARG items.how') end
  local number = items_number[ARGV[items(i) + items_numbers]]
  if now + number[items_delay] > 8640000000000000 then return redis.error_reply('EMQARG items.delay') end
  if number[items_lock] > dedups_n then return redis.error_reply('EMQARG items.lock') end
end

-- Reads that also prove the type of everything written below.
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local owner = redis.call('HMGET', owners, unpack(ids))
local rank = redis.call('HMGET', priorities, unpack(ids))
local extra = redis.call('SMISMEMBER', extras, unpack(ids))
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
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
local why = redis.call('HLEN', verdicts) > 0 and redis.call('HMGET', verdicts, unpack(ids)) or {}
redis.call('LLEN', wait)
redis.call('XLEN', events)
redis.call('HLEN', outbox)
redis.call('ZCARD', outbox_due)
for _, set in ipairs({ prioritized, active, completed, failed, trash }) do redis.call('ZCARD', set) end

local first_due = tonumber(head[2])
-- Verifies the lease of each run that ends and sorts the runs by what becomes of the job.
local statuses, settled, ended, over, met, runs = {}, {}, {}, {}, {}, {}
for i = 1, jobs_n do
  local id, row = ids[i], items(i)
  local holds, at = lease_of(owner[i])
  if not holds or met[id] then
    statuses[i] = 'EMQSTALE no lease'
  elseif holds ~= ARGV[row + items_token] then
    statuses[i] = 'EMQSTALE the lease is held by another run'
  else
    met[id] = true
    settled[#settled + 1] = id
    local how = ARGV[row + items_how]
    if redis.pcall('HEXISTS', KEYS[jobs_at + i], 'name') ~= 1 then
      statuses[i], how = 'EMQMISSING the job is gone', 'gone'
    else
      statuses[i] = 'ok'
      runs[#runs + 1] = { i, KEYS[jobs_at + i], row, at, how }
    end
    if how == 'completed' or how == 'failed' or how == 'gone' then
      ended[#ended + 1] = id
      over[#over + 1] = i
    end
  end
end
-- Deduplication records of ended jobs. One without a TTL ends with its holder, and the successor that it
-- kept back takes its place.
local locks = {}
redis.call('ZCARD', held)
for l = 1, dedups_n do
  local key = KEYS[dedups_at + l]
  local said = redis.pcall('HMGET', key, 'job', 'next', 'due', 'front')
  if not said.err and said[1] and redis.call('PTTL', key) == -1 then
    local due = tonumber(said[3])
    if not (due and due > now and due <= 8640000000000000) then due = nil end
    local ranked = said[2] and redis.call('HGET', priorities, said[2])
    locks[l] = { key = key, job = said[1], next = said[2], due = due, front = said[4] == '1',
      rank = rank_of(ranked) }
  end
end

local function release(i)
  local l = items_number[ARGV[items(i) + items_numbers]][items_lock]
  local lock = locks[l]
  if not lock or lock.job ~= ids[i] then return end
  locks[l] = nil
  if not lock.next or redis.call('ZREM', held, lock.next) == 0 then
    redis.call('UNLINK', lock.key)
    return
  end
  redis.call('HSET', lock.key, 'job', lock.next)
  redis.call('HDEL', lock.key, 'next', 'due', 'front')
  if lock.due then
    put_off(lock.next, lock.due)
    if not first_due or lock.due < first_due then first_due = lock.due end
    emit('d', lock.next, string.format('%.0f', lock.due))
  else
    line_up(lock.next, lock.rank, lock.front and 'newest')
    emit('w', lock.next, '')
  end
end

-- Freeing memory comes first, or maxmemory would refuse the whole call.
if #settled > 0 then
  redis.call('ZREM', active, unpack(settled))
  redis.call('HDEL', owners, unpack(settled))
end
if #ended > 0 then
  redis.call('HDEL', verdicts, unpack(ended))
  redis.call('HDEL', priorities, unpack(ended))
end
local kept = {}
for n = 1, #runs do
  local i, key, row, at, how = unpack(runs[n])
  local id, value = ids[i], ARGV[row + items_value]
  local final = how == 'completed' or how == 'failed'
  local number = items_number[ARGV[row + items_numbers]]
  local delay = number[items_delay]
  local count = how == 'completed' and keepCount or failCount
  if final and count == 0 then
    if extra[i] == 1 then
      -- Tells bury that the job ended: its throttle goes on without it.
      redis.call('HSET', key, 'finishedOn', string.format('%.0f', now))
      redis.call('ZADD', trash, now, id)
      to_bury[#to_bury + 1] = id
    else
      redis.call('UNLINK', key)
    end
  elseif how ~= 'release' then
    local hash = { 'processedOn', at, 'atm', number[items_atm_text], 'ats', number[items_ats_text] }
    local function field(name, text)
      if text ~= '' then hash[#hash + 1] = name; hash[#hash + 1] = text end
    end
    field(how == 'completed' and 'returnvalue' or 'failedReason', value)
    field('stacktrace', ARGV[row + items_stack])
    if final then field('finishedOn', string.format('%.0f', now)) end
    if how == 'delay' and not why[i] then field('delay', number[items_delay_text]) end
    redis.call('HSET', key, unpack(hash))
    if final then
      redis.call('ZADD', how == 'completed' and completed or failed, now, id)
      kept[how] = true
    end
  end
  -- What must end goes ahead of all lines, wherever its run sent it.
  if how == 'delay' and not why[i] then
    put_off(id, now + delay)
    if not first_due or now + delay < first_due then first_due = now + delay end
    emit('d', id, string.format('%.0f', now + delay))
  elseif how == 'delay' or how == 'retry' then
    line_up(id, not why[i] and rank_of(rank[i]), why[i] and 'front')
    -- Without a reason nothing failed: the job put itself back.
    emit(value == '' and 'w' or 'r', id, value)
  elseif how == 'release' then
    line_up(id, not why[i] and rank_of(rank[i]), 'front')
    emit('w', id, '')
  else
    emit(how == 'completed' and 'c' or 'f', id, value)
    -- Owed to another queue from this step on; any worker of this one delivers it.
    if how == 'failed' and ARGV[row + items_letter] ~= '' then
      local effect = 'letter:' .. ARGV[row + items_token] .. ':' .. id
      redis.call('HSET', outbox, effect, ARGV[row + items_letter])
      redis.call('ZADD', outbox_due, now, effect)
    end
  end
end
for n = 1, #over do release(over[n]) end
flush_line()
save_sequence()
if kept.completed then retain(completed, keepCount, keepAge) end
if kept.failed then retain(failed, failCount, failAge) end
if not opts[1] then
  -- Under a limit every end makes room, and somebody may be waiting for it.
  if opts[3] and marked == 0 and #in_line == 0 then in_line = next_up() end
  arm(in_line)
  if first_due and first_due ~= tonumber(head[2]) then arm_due(first_due) end
end
flush_events()
return { statuses, to_bury }
