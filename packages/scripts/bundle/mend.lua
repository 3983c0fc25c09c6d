-- Mends what is wrong with a few jobs, by what it sees itself; nothing is done to a healthy one.
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
local meta, wait, prioritized, delayed, active, completed, failed, waiting_children, held, trash, owners, priorities, verdicts, extras, pc, limiter = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17]
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
if jobs_n > 10 then bad = bad or 'jobs' end
if not string.find(ARGV[2] .. ' ' .. ARGV[3], '^%d+ %d+$') then
  for _, arg in ipairs({ { 2, 'now' }, { 3, 'least' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local least = ARGV[3] + 0
if least > 4294967295 then bad = bad or 'least' end
local jobs_at, jobs_w = 17, 5
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- What is wrong with one id. `walk` looks into wait itself; without it the caller says how often it saw
-- the id there.
local STATES = {
  { 'active', active }, { 'completed', completed }, { 'failed', failed },
  { 'prioritized', prioritized }, { 'delayed', delayed },
  { 'waiting-children', waiting_children }, { 'held', held },
}
local ENDED = { completed = true, failed = true }

local function diagnose(n, walk, seen)
  local at = jobs_at + (n - 1) * jobs_w
  local key = KEYS[at + 1]
  local id = string.sub(key, jobs_id)
  local job = redis.pcall('HMGET', key, 'name', 'finishedOn')
  local it = { id = id, key = key, places = {}, faults = {}, sides = 0, waits = seen }
  local function fault(kind) it.faults[#it.faults + 1] = kind end
  if job.err then
    fault('wrong-type')
    return it
  end
  it.exists, it.finished = job[1] and true, job[2] and true
  local score
  for _, set in ipairs(STATES) do
    local found = redis.call('ZSCORE', set[2], id)
    if found then it.places[#it.places + 1] = set[1] end
    if found and set[1] == 'prioritized' then score = tonumber(found) end
  end
  local running = it.places[1] == 'active'
  if walk then it.waits = #redis.call('LPOS', wait, id, 'COUNT', 3) end
  for _ = 1, it.waits do it.places[#it.places + 1] = 'waiting' end
  it.trash = redis.call('ZSCORE', trash, id)
  it.owner = redis.call('HGET', owners, id)
  it.rank = redis.call('HGET', priorities, id)
  it.verdict = redis.call('HGET', verdicts, id)
  it.extra = redis.call('SISMEMBER', extras, id) == 1
  for k = 2, jobs_w do it.sides = it.sides + redis.call('EXISTS', KEYS[at + k]) end
  local stands = #it.places > 0
  if stands and not it.exists then fault('missing-hash') end
  if #it.places > 1 or stands and it.trash then fault('two-places') end
  if it.exists and not stands and not it.trash then fault('orphan-hash') end
  if running and not it.owner then fault('active-without-owner') end
  if it.owner and not running then fault('owner-without-active') end
  local live = it.exists and stands and not ENDED[it.places[1]]
  if it.rank and not live and not it.trash then fault('stray-priority') end
  -- Where it would go back to after a run that is lost.
  it.place = score and math.floor(score / 4294967296)
  if it.exists and score and tonumber(it.rank) ~= it.place then fault('wrong-priority') end
  if it.verdict and not live and not it.trash then fault('stray-verdict') end
  if it.extra and it.sides == 0 and not it.trash then fault('stray-extra') end
  if it.sides > 0 and not it.extra and not it.trash then fault('unnamed-extra') end
  if not it.exists and not it.trash and not it.extra and it.sides == 0
    and redis.call('EXISTS', key) == 1 then
    fault('half-hash')
  end
  return it
end
if jobs_n > 10 then return redis.error_reply('EMQARG jobs') end
redis.call('LLEN', wait)
for _, set in ipairs(STATES) do redis.call('ZCARD', set[2]) end
redis.call('ZCARD', trash)
for _, hash in ipairs({ meta, owners, priorities, verdicts }) do redis.call('HLEN', hash) end
redis.call('SCARD', extras)
local sequence, window = redis.pcall('GET', pc), redis.pcall('PTTL', limiter)
local last = redis.call('ZRANGE', prioritized, -1, -1, 'WITHSCORES')

local seen, out, met = {}, {}, {}
for i = 1, jobs_n do
  seen[i] = diagnose(i, true, 0)
  -- Of twins the first is mended.
  if met[seen[i].id] then seen[i].faults = {} end
  met[seen[i].id] = true
  out[i] = seen[i].faults
end

local function leave(id, place)
  for _, set in ipairs(STATES) do
    if set[1] == place then redis.call('ZREM', set[2], id) end
  end
end

-- The place that counts: where it runs, else where it ended, else where it waits.
local function place_of(it)
  for _, place in ipairs(it.places) do
    if place == 'active' and it.owner then return place end
    if ENDED[place] and it.finished then return place end
  end
  for _, place in ipairs(it.places) do
    if place ~= 'active' and not ENDED[place] then return place end
  end
  return it.places[1]
end

for i = 1, jobs_n do
  local it = seen[i]
  local id, has = it.id, {}
  for _, kind in ipairs(it.faults) do has[kind] = true end
  local keep = it.exists and place_of(it)
  if has['missing-hash'] or has['two-places'] then
    for _, place in ipairs(it.places) do
      if place ~= keep then leave(id, place) end
    end
    if keep ~= 'waiting' then
      if it.waits > 0 then redis.call('LREM', wait, it.waits, id) end
    elseif it.waits > 1 then
      redis.call('LREM', wait, it.waits - 1, id)
    end
    if it.exists and it.trash then redis.call('ZREM', trash, id) end
  end
  if it.owner and keep ~= 'active' then redis.call('HDEL', owners, id) end
  if has['stray-priority'] then redis.call('HDEL', priorities, id) end
  if has['wrong-priority'] and keep == 'prioritized' then
    redis.call('HSET', priorities, id, string.format('%.0f', it.place))
  end
  if has['stray-verdict'] then redis.call('HDEL', verdicts, id) end
  if has['stray-extra'] then redis.call('SREM', extras, id) end
  -- Overdue now, so the next sweep puts it back in line.
  if has['active-without-owner'] and keep == 'active' then redis.call('ZADD', active, -now, id) end
  if has['unnamed-extra'] and it.exists then
    redis.call('SADD', extras, id)
    redis.call('HSET', meta, 'extras', '1')
  end
  if has['orphan-hash'] and not it.finished then
    -- Neither run nor lost: somebody may retry or remove it.
    redis.call('HSET', it.key, 'failedReason', 'found in no state', 'finishedOn',
      string.format('%.0f', now))
    redis.call('ZADD', failed, now, id)
  elseif has['orphan-hash'] or has['half-hash'] or has['unnamed-extra'] and not it.exists then
    redis.call('ZADD', trash, now, id)
  end
end

local mended = {}
local number = type(sequence) == 'string' and tonumber(sequence) or 2147483648
local whole = number >= 0 and number < 9007199254740000 and number % 1 == 0
if type(sequence) == 'string' and not (tonumber(sequence) and whole) then
  local place = last[2] and tonumber(last[2]) % 4294967296 or 2147483648
  redis.call('SET', pc, string.format('%.0f', math.max(place, least)))
  mended[1] = 'pc'
elseif type(sequence) ~= 'table' and number < least then
  -- New jobs would stand before older ones of their priority.
  redis.call('SET', pc, string.format('%.0f', least))
  mended[1] = 'pc'
end
if window == -1 then
  redis.call('UNLINK', limiter)
  mended[#mended + 1] = 'limiter'
end
return { out, mended }
