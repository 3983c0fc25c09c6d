-- One turn of a busy worker: settles completed jobs and claims from wait, with the fewest keys.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, wait, active, owners, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local bad
local number = {}
local function int(at, name)
  local text = ARGV[at]
  if number[text] then return number[text] end
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then
      number[text] = value
      return value
    end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end
local done_n = int(1, 'done')
if done_n > 500 then bad = bad or 'done' end
local candidates_n = int(2, 'candidates')
if candidates_n > 500 then bad = bad or 'candidates' end
local finished_n = int(3, 'finished')
if finished_n > 500 then bad = bad or 'finished' end
local results_n = int(4, 'results')
if results_n > 500 then bad = bad or 'results' end
local now = int(5, 'now')
local claim = int(6, 'claim')
if claim > 500 then bad = bad or 'claim' end
local lease = int(7, 'lease')
if lease > 86400000 then bad = bad or 'lease' end
local token = text(8, 'token')
local begun = int(9, 'begun')
if begun > 500 then bad = bad or 'begun' end
local hints = int(10, 'hints')
if hints > 500 then bad = bad or 'hints' end
local done_at, done_w = 6, 1
local done_id = #stamp - 4 + #'v2:job:' + 1
local candidates_at, candidates_w = done_at + done_n * done_w, 1
local candidates_id = #stamp - 4 + #'v2:job:' + 1
local finished_at, finished_w = candidates_at + candidates_n * candidates_w, 1
local results_base, results_w = 10, 3
local function results(row) return results_base + (row - 1) * results_w end
local results_token, results_value, results_runs = 1, 2, 3
if not bad and #KEYS ~= finished_at + finished_n * finished_w then bad = 'keys' end
if not bad and #ARGV ~= results_base + results_n * results_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- A queue with no setting has two fields, `version` and `opened`.
local opts = redis.call('HLEN', meta) == 2 and {}
  or redis.call('HMGET', meta, 'paused', 'concurrency', 'rate.max', 'verdicts', 'extras', 'events.max')
if opts[1] or opts[2] or opts[3] or opts[4] or opts[5] then
  return redis.error_reply('EMQRETRY the queue needs step')
end
local events_max = tonumber(opts[6] or '10000') or 10000
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
-- Buffers the events of this call. A flush writes one stream entry: pairs of `<code><id>` and a payload.
-- Payloads over 8 KB are left in the job's hash; the code is then upper case.
local ev, ev_n, ev_bytes = {}, 0, 0
if not (events_max >= 0 and events_max <= 9007199254740991 and events_max % 1 == 0) then
  events_max = 10000
end

local function flush_events()
  if ev_n == 0 then return end
  local how = events_max < 1000 and '=' or '~'
  -- pcall: after the first write nothing may raise, and a stream can only fail by its own last id.
  redis.pcall('XADD', events, 'MAXLEN', how, events_max, '*', unpack(ev))
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
-- What a run needs of its job's hash. A field the hash does not have is false, and left out at the end.
local function run_fields(key)
  local fields = redis.pcall('HMGET', key, 'name', 'data', 'opts', 'timestamp', 'atm', 'ats', 'stc',
    'priority', 'delay', 'attemptsMade', 'progress', 'deid', 'parentKey', 'rjk', 'stacktrace')
  local last = #fields
  while last > 0 and not fields[last] do
    fields[last] = nil
    last = last - 1
  end
  return fields
end
-- Writes new leases. A sorted set or hash of up to 128 members is a packed list, scanned for each member: for a
-- batch the other encoding is cheaper, and one long member brings it, until the key is empty. No id has a
-- control character.
local MANY, LONG = 4, string.rep('\1', 65)

local function write_leases(scores, own, count)
  local many, n = count >= MANY, 2 * count
  if many then
    scores[n + 1], scores[n + 2], own[n + 1], own[n + 2] = scores[1], scores[2], own[1], own[2]
    scores[1], scores[2], own[1], own[2] = 0, LONG, LONG, ''
  end
  redis.call('ZADD', active, unpack(scores))
  redis.call('HSET', owners, unpack(own))
  if many then
    redis.call('ZREM', active, LONG)
    redis.call('HDEL', owners, LONG)
  end
end

if done_n ~= results_n then return redis.error_reply('EMQARG results') end
if finished_n > 1 then return redis.error_reply('EMQARG finished') end
if not string.find(token, '^[%w._-]+$') then return redis.error_reply('EMQARG token') end
for i = 1, results_n do
  local runs = ARGV[results(i) + results_runs]
  if runs ~= '' and (#runs > 20 or not string.find(runs, '^%d+%.%d+$')) then
    return redis.error_reply('EMQARG results.runs')
  end
end
local completed = KEYS[finished_at + 1]

local ids, owner, statuses, settled, removed, kept, met = {}, {}, {}, {}, {}, {}, {}
for i = 1, done_n do ids[i] = string.sub(KEYS[done_at + i], done_id) end
if done_n > 0 then owner = redis.call('HMGET', owners, unpack(ids)) else redis.call('HLEN', owners) end
if finished_n == 1 then redis.call('ZCARD', completed) end
local all_ok, ok = true, 0
local last, held, at
for i = 1, done_n do
  local id, row, key = ids[i], results(i), KEYS[done_at + i]
  if owner[i] ~= last then
    last = owner[i]
    held, at = lease_of(last)
  end
  if not held or met[id] then
    statuses[i] = 'EMQSTALE no lease'
    all_ok = false
  elseif held ~= ARGV[row + results_token] then
    statuses[i] = 'EMQSTALE the lease is held by another run'
    all_ok = false
  elseif finished_n == 1 and redis.pcall('HEXISTS', key, 'name') ~= 1 then
    statuses[i] = 'EMQMISSING the job is gone'
    all_ok = false
    ok = ok + 1
    settled[ok] = id
  else
    statuses[i] = 'ok'
    ok = ok + 1
    settled[ok] = id
    if finished_n == 1 then kept[#kept + 1] = { i, key, at } else removed[ok] = key end
  end
  met[id] = true
end

-- Freeing memory comes first, or maxmemory would refuse the whole call.
if ok > 0 then
  redis.call('ZREM', active, unpack(settled))
  redis.call('HDEL', owners, unpack(settled))
else
  redis.call('ZCARD', active)
end
if #removed > 0 then redis.call('UNLINK', unpack(removed)) end
for i = 1, done_n do
  if statuses[i] == 'ok' then emit('c', ids[i], ARGV[results(i) + results_value]) end
end
local gone, now_text = {}, string.format('%.0f', now)
for n = 1, #kept do
  local i, key, at = unpack(kept[n])
  local value, runs = ARGV[results(i) + results_value], ARGV[results(i) + results_runs]
  local atm, ats = string.match(runs == '' and '1.1' or runs, '^(%d+)%.(%d+)$')
  local hash = { 'finishedOn', now_text, 'processedOn', at, 'atm', atm, 'ats', ats }
  if value ~= '' then hash[9] = 'returnvalue'; hash[10] = value end
  redis.call('HSET', key, unpack(hash))
  gone[2 * n - 1] = now_text
  gone[2 * n] = ids[i]
end
if #gone > 0 then redis.call('ZADD', completed, unpack(gone)) end

-- A wrong type here is found after the first write, so it only ends the claim; step names it.
local taken = {}
if claim > 0 then
  local popped = redis.pcall('RPOP', wait, claim)
  if popped and not popped.err then taken = popped end
end
local candidate, claimed, scores, own = {}, {}, {}, {}
for i = 1, candidates_n do
  local key = KEYS[candidates_at + i]
  candidate[string.sub(key, candidates_id)] = key
end
local mine = now_text .. ':' .. token
local started = mine .. '!'
local deadline = now + lease
for i = 1, #taken do
  local id, fields = taken[i], {}
  local key = candidate[id]
  if key then
    fields = run_fields(key)
    if fields.err or not fields[1] then fields = {} end
  end
  claimed[i] = { id, fields }
  scores[2 * i - 1] = -(deadline + (i - 1) / 512)
  scores[2 * i] = id
  own[2 * i - 1] = id
  own[2 * i] = key and i <= begun and started or mine
  emit('a', id, '')
end
if #taken > 0 then write_leases(scores, own, #taken) end
local coming = {}
if hints > 0 then
  local ahead = redis.pcall('LRANGE', wait, -hints, -1)
  if not ahead.err then
    local n = #ahead + 1
    for i = 1, #ahead do coming[i] = ahead[n - i] end
  end
end
flush_events()
return { all_ok and {} or statuses, claimed, coming }
