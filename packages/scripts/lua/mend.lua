-- Mends what is wrong with a few jobs, by what it sees itself; nothing is done to a healthy one.
--@include diagnose
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
