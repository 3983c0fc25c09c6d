-- Settles completed jobs and claims the next ones in one step.
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
local meta, wait, prioritized, delayed, active, owners, verdicts, completed, trash, extras, limiter, marker, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]
if #ARGV < 8 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 18 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local done_n, candidates_n, results_n, claim, begun, hints
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17 = string.byte(ARGV[1], 1, 18)
  done_n = b0 * 100 + b1 * 10 + b2 - 5328
  candidates_n = b3 * 100 + b4 * 10 + b5 - 5328
  results_n = b6 * 100 + b7 * 10 + b8 - 5328
  claim = b9 * 100 + b10 * 10 + b11 - 5328
  begun = b12 * 100 + b13 * 10 + b14 - 5328
  hints = b15 * 100 + b16 * 10 + b17 - 5328
end
if done_n > 500 then bad = bad or 'done' end
if candidates_n > 500 then bad = bad or 'candidates' end
if results_n > 500 then bad = bad or 'results' end
if claim > 500 then bad = bad or 'claim' end
if begun > 500 then bad = bad or 'begun' end
if hints > 500 then bad = bad or 'hints' end
if not string.find(ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[5] .. ' ' .. ARGV[6] .. ' ' .. ARGV[7] .. ' ' .. ARGV[8], '^%d+ %d+ %d+ %d+ %d+ %d+$') then
  for _, arg in ipairs({ { 2, 'now' }, { 3, 'deadline' }, { 5, 'keepCount' }, { 6, 'keepAge' }, { 7, 'rateMax' }, { 8, 'rateMs' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local now_text = ARGV[2]
if now < 10 ^ (#now_text - 1) and now_text ~= '0' then bad = bad or 'now' end
local deadline = ARGV[3] + 0
if deadline > 9007199254740991 then bad = bad or 'deadline' end
local deadline_text = ARGV[3]
if deadline < 10 ^ (#deadline_text - 1) and deadline_text ~= '0' then bad = bad or 'deadline' end
local token = ARGV[4]
local keepCount = ARGV[5] + 0
if keepCount > 9007199254740991 then bad = bad or 'keepCount' end
local keepAge = ARGV[6] + 0
if keepAge > 9007199254740991 then bad = bad or 'keepAge' end
local rateMax = ARGV[7] + 0
if rateMax > 9007199254740991 then bad = bad or 'rateMax' end
local rateMs = ARGV[8] + 0
if rateMs > 315360000000 then bad = bad or 'rateMs' end
local done_at, done_w = 14, 1
local done_id = #stamp - 4 + #'v2:job:' + 1
local candidates_at, candidates_w = done_at + done_n * done_w, 1
local candidates_id = #stamp - 4 + #'v2:job:' + 1
local results_base, results_w = 8, 3
local function results(row) return results_base + (row - 1) * results_w end
local results_numbers, results_token, results_value = 1, 2, 3
local results_atm, results_ats, results_atm_text, results_ats_text = 1, 2, 3, 4
if not bad and #KEYS ~= candidates_at + candidates_n * candidates_w then bad = 'keys' end
if not bad and #ARGV ~= results_base + results_n * results_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local results_number = {}
for row = results_base, results_base + (results_n - 1) * results_w, results_w do
  local text = ARGV[row + 1]
  if not results_number[text] then
    local n0, n1 = string.match(text, '^(%d+) (%d+)$')
    if not n0 then return redis.error_reply('EMQARG results.numbers') end
    local many = { n0 + 0, n1 + 0, n0, n1 }
    if many[1] > 9007199254740991 then bad = bad or 'results.atm' end
    if many[2] > 9007199254740991 then bad = bad or 'results.ats' end
    results_number[text] = many
  end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local opts = redis.call('HMGET', meta, 'paused', 'concurrency', 'events.max', 'verdicts',
  'rate.max', 'rate.ms')
local limit = tonumber(opts[2])
if limit then limit = math.floor(limit) end
local events_text = opts[3]
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

if done_n ~= results_n then return redis.error_reply('EMQARG results') end
if not string.find(token, '^[%w._-]+$') and claim > 0 then
  return redis.error_reply('EMQARG token')
end

-- Reads that also prove the type of everything written below.
local running = redis.call('ZCARD', active)
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
local doomed = redis.call('HLEN', verdicts)
redis.call('XLEN', events)
local ids, owner, extra = {}, {}, {}
if done_n > 0 then
  for i = 1, done_n do ids[i] = string.sub(KEYS[done_at + i], done_id) end
  owner = redis.call('HMGET', owners, unpack(ids))
  extra = redis.call('SMISMEMBER', extras, unpack(ids))
else
  redis.call('HLEN', owners)
end
if done_n > 0 or keepAge > 0 or keepCount < 9007199254740991 then
  redis.call('ZCARD', trash)
  redis.call('ZCARD', completed)
end

-- Verifies the lease of each completed run and sorts the runs by what becomes of the job.
local statuses, settled, gone, kept, removed, dead = {}, {}, {}, {}, {}, {}
local met = {}
for i = 1, done_n do
  local id, row, key = ids[i], results(i), KEYS[done_at + i]
  local held, at = lease_of(owner[i])
  if not held or met[id] then
    statuses[i] = 'EMQSTALE no lease'
  elseif held ~= ARGV[row + results_token] then
    statuses[i] = 'EMQSTALE the lease is held by another run'
  else
    settled[#settled + 1] = id
    statuses[i] = 'ok'
    if redis.pcall('HEXISTS', key, 'name') ~= 1 then
      statuses[i] = 'EMQMISSING the job is gone'
    elseif keepCount > 0 then
      kept[#kept + 1] = { i, key, row, at }
    elseif extra[i] == 1 then
      dead[#dead + 1] = now
      dead[#dead + 1] = id
      to_bury[#to_bury + 1] = id
    else
      removed[#removed + 1] = key
    end
    met[id] = true
  end
end

-- The rate of the queue, or of its workers where theirs is lower: a counter in a fixed window that
-- begins with its first job. A counter without an end counts for nothing and is written anew. A limit
-- of 0 is none but holds the queue while a counter set by hand stands.
local function whole(text)
  local value = tonumber(text)
  if value and value >= 0 and value <= 9007199254740991 then return math.floor(value) end
end

local rate_max, rate_ms = whole(opts[5]), whole(opts[6]) or 0
if rate_max and rate_ms == 0 then rate_max = 0 end
if rateMax > 0 and rateMs > 0 and not (rate_max and rate_max > 0 and rate_max <= rateMax) then
  rate_max, rate_ms = rateMax, rateMs
end
local places, used, window, window_end = 9007199254740991, 0, 0, 0
if rate_max then
  local count = whole(redis.call('GET', limiter) or '0') or 0
  window = math.max(redis.call('PTTL', limiter), 0)
  if window > 0 then used = count end
  if rate_max > 0 then places = math.max(rate_max - used, 0)
  elseif window > 0 and used == 9007199254740991 then places = 0 end
  window_end = now + (window > 0 and window or rate_ms) + 1
end

local function count_rate(taken)
  if rate_max == 0 and places > 0 and opts[5] == '0' then
    redis.call('HDEL', meta, 'rate.max')
  elseif rate_max and rate_max > 0 and taken > 0 then
    redis.call('SET', limiter, string.format('%.0f', used + taken), 'PX',
      string.format('%.0f', window > 0 and window or rate_ms))
  end
end

-- What to pop, seen before the first write, so the types of both lines are proven too.
local room = math.min(claim, places)
if limit then room = math.min(room, math.max(limit - (running - #settled), 0)) end
local preview, ranked, ending = {}, {}, {}
local open = not opts[1] and (claim > 0 or limit)
local look = room + math.max(hints, 1)
if doomed > 0 then look = math.max(look, claim + 1, 100) end
if open then preview = redis.call('LRANGE', wait, -look, -1) end
local short = look - #preview
-- Jobs that must end run nothing: no limit counts them, and no limit keeps them back. Those that stand
-- near the head of wait, `depth` ids deep, are taken out of `preview` and claimed first.
local depth = 0
if doomed > 0 and #preview > 0 then
  local why, rest = redis.call('HMGET', verdicts, unpack(preview)), {}
  for i = #preview, 1, -1 do
    if why[i] and #ending < claim then
      ending[#ending + 1] = preview[i]
      depth = #preview + 1 - i
      preview[i] = false
    end
  end
  for i = 1, #preview do
    if preview[i] then rest[#rest + 1] = preview[i] end
  end
  preview, room = rest, math.min(room, claim - #ending)
end
if open and short > 0 then ranked = redis.call('ZRANGE', prioritized, 0, short - 1) end
local take_wait = math.min(room, #preview)
local take_ranked = math.min(room - take_wait, #ranked)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
local candidate = {}
for i = 1, candidates_n do
  candidate[string.sub(KEYS[candidates_at + i], candidates_id)] = KEYS[candidates_at + i]
end
-- Pops the next jobs and leases them. It writes queue-level keys only; a job's hash is read only when
-- the caller declared it as a candidate.
local reason, due_at = '', 0
local claimed, hints_out = {}, {}

local function take()
  local ids = {}
  for i = 1, #ending do ids[i] = ending[i] end
  if depth > 0 then redis.call('RPOP', wait, depth) end
  -- Whoever stood ahead of one that must end keeps its place.
  if depth > #ending then
    redis.call('RPUSH', wait, unpack(preview, #preview + 1 - depth + #ending))
  end
  for i = 1, take_wait do ids[#ids + 1] = preview[#preview + 1 - i] end
  for i = 1, take_ranked do ids[#ids + 1] = ranked[i] end
  if take_wait > 0 then redis.call('RPOP', wait, take_wait) end
  if take_ranked > 0 then redis.call('ZPOPMIN', prioritized, take_ranked) end
  return ids
end

local function lease(ids)
  local scores, owner = {}, now_text .. ':' .. token
  local own, started = {}, owner .. '!'
  for i = 1, #ids do
    -- A part of a millisecond for the place in this claim: whoever puts it back keeps the order.
    scores[2 * i - 1] = i == 1 and '-' .. deadline_text or -(deadline + (i - 1) / 512)
    scores[2 * i] = ids[i]
    own[2 * i - 1] = ids[i]
    own[2 * i] = candidate[ids[i]] and i <= begun and started or owner
    emit('a', ids[i], '')
  end
  local count = #ids
  -- Writes `count` new leases. A sorted set or hash of up to 128 members is a packed list, scanned for each member:
  -- for a batch the other encoding is cheaper, and one long member brings it, until the key is empty. No id has a
  -- control character.
  if count < 8 then
    redis.call('ZADD', active, unpack(scores))
    redis.call('HSET', owners, unpack(own))
  else
    local long, n = string.rep('\1', 65), 2 * count
    scores[n + 1], scores[n + 2], own[n + 1], own[n + 2] = scores[1], scores[2], own[1], own[2]
    scores[1], scores[2], own[1], own[2] = 0, long, long, ''
    redis.call('ZADD', active, unpack(scores))
    redis.call('HSET', owners, unpack(own))
    redis.call('ZREM', active, long)
    redis.call('HDEL', owners, long)
  end
end

local function read_claimed(ids)
  local why = {}
  if doomed > 0 then why = redis.call('HMGET', verdicts, unpack(ids)) end
  -- What jobs read one after the other have in common is looked at once.
  local last_name, last_opts, last_time, on_one_line, digits
  for i = 1, #ids do
    local id, key, fields, text = nil, candidate[ids[i]], nil, nil
    if key then
      -- Reads what a run needs of the hash at `key`: `fields`, by place; one it does not have is false, and left out at
      -- the end. Nil where there is no such hash: whoever begins the job is told so. A waiting job has four or five
      -- fields: to read what is there costs less than to ask for all there may be.
      -- With an `id`, a job of these four is told as one text in their place: each string of a reply costs both sides
      -- more than to put them together. Data comes last, since any text may stand there.
      local all = redis.pcall('HGETALL', key)
      local name, data, opts, timestamp, others = false, false, false, false, false
      if not all.err then
        for at = 1, #all, 2 do
          local field = all[at]
          if field == 'name' then name = all[at + 1]
          elseif field == 'data' then data = all[at + 1]
          elseif field == 'opts' then opts = all[at + 1]
          elseif field == 'timestamp' then timestamp = all[at + 1]
          else others = true
          end
        end
      end
      if name and id and data and timestamp and not others and #data <= 16384 then
        if name ~= last_name or opts ~= last_opts then
          last_name, last_opts = name, opts
          on_one_line = not string.find(name, '\n', 1, true) and not (opts and string.find(opts, '\n', 1, true))
        end
        if timestamp ~= last_time then last_time, digits = timestamp, string.find(timestamp, '^%d+$') end
        if on_one_line and digits then
          text = id .. '\n' .. (opts or '') .. '\n' .. name .. '\n' .. timestamp .. '\n' .. data
        end
      end
      if name and not text then
        fields = { name, data, opts, timestamp }
        if others then
          local place = { atm = 5, ats = 6, stc = 7, priority = 8, delay = 9, attemptsMade = 10, progress = 11,
            deid = 12, parentKey = 13, rjk = 14, stacktrace = 15 }
          for at = 5, 15 do fields[at] = false end
          for at = 1, #all, 2 do
            local known = place[all[at]]
            if known then fields[known] = all[at + 1] end
          end
          for last = 15, 5, -1 do
            if fields[last] then break end
            fields[last] = nil
          end
        end
      end
    end
    claimed[i] = { ids[i], why[i] or false, fields or {} }
  end
end

-- Freeing memory comes first, or maxmemory would refuse the whole call.
if #settled > 0 then
  redis.call('ZREM', active, unpack(settled))
  redis.call('HDEL', owners, unpack(settled))
  if doomed > 0 then redis.call('HDEL', verdicts, unpack(settled)) end
end
if #removed > 0 then redis.call('UNLINK', unpack(removed)) end
local taken = {}
if #ending + take_wait + take_ranked > 0 then taken = take() end
local started = #taken - #ending
if #dead > 0 then redis.call('ZADD', trash, unpack(dead)) end
for n = 1, #kept do
  local i, key, row, at = unpack(kept[n])
  local number = results_number[ARGV[row + results_numbers]]
  local hash = { 'finishedOn', string.format('%.0f', now), 'processedOn', at,
    'atm', number[results_atm_text], 'ats', number[results_ats_text] }
  local value = ARGV[row + results_value]
  if value ~= '' then hash[9] = 'returnvalue'; hash[10] = value end
  redis.call('HSET', key, unpack(hash))
  gone[#gone + 1] = now
  gone[#gone + 1] = ids[i]
end
if #gone > 0 then redis.call('ZADD', completed, unpack(gone)) end
-- Also without a settlement: what `turn` kept is trimmed by the next step.
if keepCount > 0 and (#gone > 0 or done_n == 0) then retain(completed, keepCount, keepAge) end
for i = 1, done_n do
  if statuses[i] == 'ok' then emit('c', ids[i], ARGV[results(i) + results_value]) end
end

if #taken > 0 then
  lease(taken)
  read_claimed(taken)
end
count_rate(started)
for i = take_wait + 1, #preview do hints_out[#hints_out + 1] = preview[#preview + 1 - i] end
for i = take_ranked + 1, #ranked do hints_out[#hints_out + 1] = ranked[i] end
if open and started < room and marked > 0 then
  redis.call('ZREMRANGEBYSCORE', marker, 0, 0)
elseif open and #hints_out > 0 and marked == 0 and places > started
  and (not limit or running - #settled + #taken < limit) then
  arm({ hints_out[1] })
end
-- The flag sends busy workers here; with no verdict left they may take `turn` again.
if opts[4] and doomed == 0 then redis.call('HDEL', meta, 'verdicts') end
flush_events()

if head[2] then due_at = math.floor(tonumber(head[2])) end
if places <= started and (due_at == 0 or window_end < due_at) then due_at = window_end end
if claim > 0 and #taken == 0 then
  reason = opts[1] and 'paused' or places == 0 and 'rate' or room == 0 and 'limit' or 'empty'
end
while #hints_out > hints do table.remove(hints_out) end
return { statuses, claimed, hints_out, to_bury, reason, due_at }
