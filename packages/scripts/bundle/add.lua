-- Adds jobs to wait, prioritized or delayed, each once; deduplicated and limited where asked for.
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
local meta, wait, prioritized, pc, delayed, priorities, trash, extras, active, held, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 21 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, namesakes_n, dedups_n, holders_n, items_n, locks_n, whole
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20 = string.byte(ARGV[1], 1, 21)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  namesakes_n = b3 * 100 + b4 * 10 + b5 - 5328
  dedups_n = b6 * 100 + b7 * 10 + b8 - 5328
  holders_n = b9 * 100 + b10 * 10 + b11 - 5328
  items_n = b12 * 100 + b13 * 10 + b14 - 5328
  locks_n = b15 * 100 + b16 * 10 + b17 - 5328
  whole = b18 * 100 + b19 * 10 + b20 - 5328
end
if jobs_n > 500 then bad = bad or 'jobs' end
if namesakes_n > 500 then bad = bad or 'namesakes' end
if dedups_n > 500 then bad = bad or 'dedups' end
if holders_n > 500 then bad = bad or 'holders' end
if items_n > 500 then bad = bad or 'items' end
if locks_n > 500 then bad = bad or 'locks' end
if whole > 1 then bad = bad or 'whole' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'now' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local jobs_at, jobs_w = 13, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local namesakes_at, namesakes_w = jobs_at + jobs_n * jobs_w, 4
local namesakes_id = #stamp - 4 + #'v2:logs:' + 1
local dedups_at, dedups_w = namesakes_at + namesakes_n * namesakes_w, 1
local dedups_id = #stamp - 4 + #'v2:dedup:' + 1
local holders_at, holders_w = dedups_at + dedups_n * dedups_w, 1
local holders_id = #stamp - 4 + #'v2:job:' + 1
local items_base, items_w = 2, 4
local function items(row) return items_base + (row - 1) * items_w end
local items_numbers, items_name, items_data, items_opts = 1, 2, 3, 4
local items_timestamp, items_delay, items_priority, items_flags, items_timestamp_text, items_delay_text, items_priority_text, items_flags_text = 1, 2, 3, 4, 5, 6, 7, 8
local locks_base, locks_w = items_base + items_n * items_w, 1
local function locks(row) return locks_base + (row - 1) * locks_w end
local locks_numbers = 1
local locks_item, locks_holder, locks_ttl, locks_flags = 1, 2, 3, 4
if not bad and #KEYS ~= holders_at + holders_n * holders_w then bad = 'keys' end
if not bad and #ARGV ~= locks_base + locks_n * locks_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local items_number = {}
for row = items_base, items_base + (items_n - 1) * items_w, items_w do
  local text = ARGV[row + 1]
  if not items_number[text] then
    local n0, n1, n2, n3 = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
    if not n0 then return redis.error_reply('EMQARG items.numbers') end
    local many = { n0 + 0, n1 + 0, n2 + 0, n3 + 0, n0, n1, n2, n3 }
    if many[1] > 9007199254740991 then bad = bad or 'items.timestamp' end
    if many[2] > 9007199254740991 then bad = bad or 'items.delay' end
    if many[3] > 2097151 then bad = bad or 'items.priority' end
    if many[4] > 3 then bad = bad or 'items.flags' end
    items_number[text] = many
  end
end
local locks_number = {}
for row = locks_base, locks_base + (locks_n - 1) * locks_w, locks_w do
  local text = ARGV[row + 1]
  if not locks_number[text] then
    local n0, n1, n2, n3 = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
    if not n0 then return redis.error_reply('EMQARG locks.numbers') end
    local many = { n0 + 0, n1 + 0, n2 + 0, n3 + 0 }
    if many[1] > 500 then bad = bad or 'locks.item' end
    if many[2] > 500 then bad = bad or 'locks.holder' end
    if many[3] > 315360000000 then bad = bad or 'locks.ttl' end
    if many[4] > 7 then bad = bad or 'locks.flags' end
    locks_number[text] = many
  end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'paused', 'closing', 'events.max', 'limit')
if opts[2] then return redis.error_reply('EMQSTATE the queue is closing: obliterate has not ended') end
local events_text = opts[3]
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

-- Reads that also prove the type of everything written below.
redis.call('LLEN', wait)
redis.call('XLEN', events)
local marked = redis.call('ZCARD', marker)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
redis.call('ZCARD', prioritized)
redis.call('HLEN', priorities)
redis.call('SCARD', extras)
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
-- Checks the rows of an add against each other and names what it adds.
if jobs_n ~= items_n then return redis.error_reply('EMQARG items') end
local ids, keys, owned = {}, {}, 0
for i = 1, jobs_n do
  keys[i] = KEYS[jobs_at + i]
  ids[i] = string.sub(keys[i], jobs_id)
  local row = items_base + (i - 1) * items_w
  local number = items_number[ARGV[row + items_numbers]]
  if number[items_timestamp] + number[items_delay] > 8640000000000000 then return redis.error_reply('EMQARG items.delay') end
  if number[items_flags] >= 2 then
    owned = owned + 1
    local logs = KEYS[namesakes_at + (owned - 1) * namesakes_w + 1]
    if not logs or string.sub(logs, namesakes_id) ~= ids[i] then
      return redis.error_reply('EMQARG namesakes')
    end
  end
end
if owned ~= namesakes_n then return redis.error_reply('EMQARG namesakes') end
-- Reads a deduplication record. With a TTL it is valid until then; without one only while its holder's
-- hash stands, has not ended and names the record itself. `job` is nil where the record is free.
local function read_record(key, holder)
  local id = string.sub(key, dedups_id)
  local said = redis.call('HMGET', key, 'job', 'next')
  local left = redis.call('PTTL', key)
  local record = { key = key, id = id, job = said[1] or nil, next = said[2] or nil, left = left }
  -- What no call can name holds nothing.
  if record.job and (#record.job > 512 or not string.find(record.job, '^[^%c]+$')) then
    record.job = nil
  end
  if not record.job or left >= 0 then return record end
  if not holder or string.sub(holder, holders_id) ~= record.job then
    record.moved = true
    return record
  end
  local job = redis.call('HMGET', holder, 'deid', 'finishedOn')
  if job[1] ~= id or job[2] or redis.call('ZSCORE', trash, record.job) then record.job = nil end
  return record
end
-- Deduplication and the length limit. `born` is the item of this call that holds a record, `after` the
-- one that is kept back behind its holder: items of one call see each other.
local records, lock_of, undone, dropped, left_from, used = {}, {}, {}, {}, {}, 0
if dedups_n ~= locks_n then return redis.error_reply('EMQARG locks') end
if locks_n > 0 then
  redis.call('ZCARD', held)
  redis.call('ZCARD', active)
end
for l = 1, locks_n do
  local row, key = locks(l), KEYS[dedups_at + l]
  local number = locks_number[ARGV[row + locks_numbers]]
  local i, nth = number[locks_item], number[locks_holder]
  if i < 1 or i > jobs_n or lock_of[i] then return redis.error_reply('EMQARG locks.item') end
  if nth > holders_n then return redis.error_reply('EMQARG locks.holder') end
  if not records[key] then
    records[key] = read_record(key, nth > 0 and KEYS[holders_at + nth])
    if records[key].moved then return redis.error_reply('EMQRETRY ' .. records[key].job) end
  end
  lock_of[i] = { record = records[key], number = number }
end

local most = tonumber(opts[4])
if most and not (most >= 1 and most <= 9007199254740991) then most = nil end
if most then
  used = redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) + redis.call('ZCARD', delayed)
end
local why_full = most and string.format('the queue is full: its limit is %.0f', most) or 'limit'
local full = most and 'EMQFULL ' .. why_full

-- Takes a place in the queue, or tells that there is none.
local function take_place()
  if most and used >= most then return false end
  used = used + 1
  return true
end

local contend
if locks_n > 0 then
  local function drop(id, from)
    dropped[#dropped + 1] = id
    left_from[#dropped] = from
  end

  -- The newer job takes the part of the one that was kept back.
  local function drop_next(record)
    if record.after then undone[record.after] = true
    elseif record.next and redis.call('ZSCORE', held, record.next) then drop(record.next, 'held') end
    record.next, record.after, record.cleared = nil, nil, true
  end

  local function hold(record, i, id)
    drop_next(record)
    record.job, record.born, record.changed = id, i, true
  end

  local function put_off_now(record)
    if record.born then
      return items_number[ARGV[items(record.born) + items_numbers]][items_delay] > 0
    end
    return redis.call('ZSCORE', delayed, record.job)
  end

  -- What becomes of a new job with a deduplication id; whether it is written.
  contend = function(i, id)
    local record, number = lock_of[i].record, lock_of[i].number
    local flags, ttl = number[locks_flags], number[locks_ttl]
    local extend, replace, last = flags % 2 == 1, flags % 4 >= 2, flags >= 4
    if last then ttl = 0 end
    if not record.job then
      if not take_place() then return full, false end
      hold(record, i, id)
      record.ttl = ttl
      return 'added', true
    end
    local other = record.job
    if replace and put_off_now(record) then
      local instead = other
      if record.born then
        -- Never written: what it replaced is what this one replaces.
        undone[record.born], instead = true, lock_of[record.born].instead
      else
        drop(other, 'delayed')
      end
      hold(record, i, id)
      if ttl == 0 or extend then record.ttl = ttl end
      lock_of[i].instead = instead
      return instead and 'replaced ' .. instead or 'added', true
    end
    if last and not record.born and redis.call('ZSCORE', active, other) then
      drop_next(record)
      record.next, record.after, record.ttl, record.changed = id, i, 0, true
      return 'held ' .. other, true
    end
    -- A record that owes a successor its place must not run out.
    if extend and ttl > 0 and not replace and not record.next then
      record.ttl, record.changed = ttl, true
    end
    return 'deduplicated ' .. other, false
  end
end
-- Writes the hash of a new job, over what is left of a retired namesake.
local function write_job(i, namesake)
  local id, row = ids[i], items_base + (i - 1) * items_w
  if namesake > 0 then
    -- The first write allocates, or an add would slip past maxmemory behind the UNLINK.
    redis.call('HSET', keys[i], 'name', ARGV[row + items_name])
    local at = namesakes_at + (namesake - 1) * namesakes_w
    redis.call('UNLINK', keys[i], KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4])
    redis.call('ZREM', trash, id)
    redis.call('SREM', extras, id)
    redis.call('HDEL', priorities, id)
  end
  local number, opts_text = items_number[ARGV[row + items_numbers]], ARGV[row + items_opts]
  local delay, priority = number[items_delay], number[items_priority]
  if delay == 0 and priority == 0 and not lock_of[i] then
    if opts_text == '' then
      redis.call('HSET', keys[i], 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
        'timestamp', number[items_timestamp_text])
    else
      redis.call('HSET', keys[i], 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
        'timestamp', number[items_timestamp_text], 'opts', opts_text)
    end
    return nil
  end
  local hash = { 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
    'timestamp', number[items_timestamp_text] }
  if opts_text ~= '' then hash[#hash + 1] = 'opts'; hash[#hash + 1] = opts_text end
  if delay > 0 then hash[#hash + 1] = 'delay'; hash[#hash + 1] = number[items_delay_text] end
  if priority > 0 then hash[#hash + 1] = 'priority'; hash[#hash + 1] = number[items_priority_text] end
  if lock_of[i] then hash[#hash + 1] = 'deid'; hash[#hash + 1] = lock_of[i].record.id end
  redis.call('HSET', keys[i], unpack(hash))
  if priority > 0 then redis.call('HSET', priorities, id, priority) end
  return priority > 0 and priority or nil
end
if jobs_n == 0 then return {} end
local retired = redis.call('ZMSCORE', trash, unpack(ids))
-- One EXISTS for the batch: where nothing stands yet, no job needs a look of its own.
local some = redis.call('EXISTS', unpack(keys)) > 0

local function content(i)
  local row = items(i)
  local timestamp = items_number[ARGV[row + items_numbers]][items_timestamp_text]
  return { ARGV[row + items_name], ARGV[row + items_data], timestamp }
end

-- By id: the row that is written for it, or what stood there before.
local status, fresh, retires, seen, again, nth, refused = {}, {}, {}, {}, {}, 0, false
local none = {}
for i = 1, jobs_n do
  local id, row = ids[i], items_base + (i - 1) * items_w
  local number = items_number[ARGV[row + items_numbers]]
  local own = number[items_flags] >= 2
  if own then nth = nth + 1 end
  local old, trashed, twin = none, retired[i], seen[id]
  if type(twin) == 'number' and undone[twin] then twin = nil end
  if twin then
    old, trashed = type(twin) == 'table' and twin or content(twin), false
  elseif some then
    old = redis.call('HMGET', keys[i], 'name', 'data', 'timestamp')
  end
  local written = true
  status[i] = 'added'
  if trashed and own or not trashed and not old[1] then
    if lock_of[i] then
      status[i], written = contend(i, id)
    elseif most and not take_place() then
      status[i], written = full, false
    end
    refused = refused or status[i] == full
    if written then
      fresh[#fresh + 1] = i
      retires[#fresh] = trashed and nth or 0
    end
    seen[id] = written and i or nil
  elseif old[1] then
    seen[id] = old
    if old[1] ~= ARGV[row + items_name] or old[2] ~= ARGV[row + items_data]
      or old[3] ~= number[items_timestamp_text] then
      status[i] = 'duplicate'
      again[#again + 1] = id
    elseif lock_of[i] and lock_of[i].record.next == id then
      status[i] = 'held ' .. lock_of[i].record.job
    end
  end
  -- Else a minted id in trash: a resent add of a job that has already come and gone.
end
if whole == 1 and refused then return redis.error_reply('EMQFULL ' .. why_full) end

local first_due = tonumber(head[2])
for n = 1, #fresh do
  local i = fresh[n]
  if not undone[i] then
    local id, row = ids[i], items_base + (i - 1) * items_w
    local priority = write_job(i, retires[n])
    local number = items_number[ARGV[row + items_numbers]]
    local delay = number[items_delay]
    local due = number[items_timestamp] + delay
    if lock_of[i] and lock_of[i].record.after == i then
      redis.call('ZADD', held, now, id)
    elseif delay > 0 then
      put_off(id, due)
      if not first_due or due < first_due then first_due = due end
      emit('d', id, string.format('%.0f', due))
    else
      line_up(id, priority, number[items_flags] % 2 == 1 and 'newest')
      emit('w', id, ARGV[row + items_name])
    end
  end
end
flush_line()
save_sequence()
-- Writes what became of the records, after the jobs, so that no record stands without one.
if locks_n > 0 then
  local function save_record(record)
    local i = record.after
    redis.call('HSET', record.key, 'job', record.job)
    if record.cleared then redis.call('HDEL', record.key, 'next', 'due', 'front') end
    if i then
      local number, due = items_number[ARGV[items(i) + items_numbers]], 0
      if number[items_delay] > 0 then due = number[items_timestamp] + number[items_delay] end
      redis.call('HSET', record.key, 'next', record.next, 'due', string.format('%.0f', due),
        'front', number[items_flags] % 2)
    end
    if record.ttl and record.ttl > 0 then
      redis.call('PEXPIRE', record.key, string.format('%.0f', record.ttl))
    elseif record.ttl then
      redis.call('PERSIST', record.key)
    end
  end

  for l = 1, locks_n do
    local record = records[KEYS[dedups_at + l]]
    if record.changed then save_record(record) end
    record.changed = false
  end
  if #dropped > 0 then
    redis.call('ZREM', delayed, unpack(dropped))
    redis.call('ZREM', held, unpack(dropped))
    redis.call('HDEL', priorities, unpack(dropped))
    local dead = {}
    for n = 1, #dropped do
      dead[#dead + 1] = now
      dead[#dead + 1] = dropped[n]
      emit('x', dropped[n], left_from[n])
    end
    redis.call('ZADD', trash, unpack(dead))
  end
end
if not opts[1] then
  arm(in_line)
  if first_due and first_due ~= tonumber(head[2]) then arm_due(first_due) end
end
for i = 1, #again do emit('u', again[i], '') end
-- The event names the job that stands; its payload is the deduplication id and the job that does not.
if locks_n > 0 then
  for i = 1, jobs_n do
    local lock = lock_of[i]
    if lock then
      local stands, word = lock.record.job, string.match(status[i], '^%l+')
      local other = ids[i]
      if undone[i] and word ~= 'held' then
        status[i], word = 'deduplicated ' .. stands, 'deduplicated'
      elseif word == 'replaced' then
        stands, other = ids[i], lock.instead
      end
      if word == 'replaced' or word == 'deduplicated' or word == 'held' then
        emit('u', stands, lock.record.id .. '\n' .. other)
      end
    end
  end
end
flush_events()
return status
