-- One turn of a busy worker: settles completed jobs and claims from wait, with the fewest keys.
local opts = redis.call('HMGET', meta, 'paused', 'concurrency', 'rate.max', 'verdicts', 'extras', 'events.max')
if opts[1] or opts[2] or opts[3] or opts[4] or opts[5] then
  return redis.error_reply('EMQRETRY the queue needs step')
end
local events_max = tonumber(opts[6] or '10000') or 10000
--@include lease
--@include events
--@include run_fields

if done_n ~= results_n then return redis.error_reply('EMQARG results') end
if finished_n > 1 then return redis.error_reply('EMQARG finished') end
local atm, ats = {}, {}
for i = 1, results_n do
  local runs = ARGV[results(i) + results_runs]
  atm[i], ats[i] = string.match(runs == '' and '1.1' or runs, '^(%d+)%.(%d+)$')
  if not atm[i] or #runs > 20 then return redis.error_reply('EMQARG results.runs') end
end
if not string.find(token, '^[%w._-]+$') then return redis.error_reply('EMQARG token') end
local completed = KEYS[finished_at + 1]

local ids, owner, statuses, settled, removed, kept, met = {}, {}, {}, {}, {}, {}, {}
for i = 1, done_n do ids[i] = string.sub(KEYS[done_at + i], done_id) end
if done_n > 0 then owner = redis.call('HMGET', owners, unpack(ids)) else redis.call('HLEN', owners) end
if finished_n == 1 then redis.call('ZCARD', completed) end
local all_ok = true
for i = 1, done_n do
  local id, row, key = ids[i], results(i), KEYS[done_at + i]
  local held, at = lease_of(owner[i])
  if not held or met[id] then
    statuses[i] = 'EMQSTALE no lease'
  elseif held ~= ARGV[row + results_token] then
    statuses[i] = 'EMQSTALE the lease is held by another run'
  elseif finished_n == 1 and redis.pcall('HEXISTS', key, 'name') ~= 1 then
    statuses[i] = 'EMQMISSING the job is gone'
    settled[#settled + 1] = id
  else
    statuses[i] = 'ok'
    settled[#settled + 1] = id
    if finished_n == 1 then kept[#kept + 1] = { i, key, at } else removed[#removed + 1] = key end
  end
  met[id] = true
  all_ok = all_ok and statuses[i] == 'ok'
end

-- Freeing memory comes first, or maxmemory would refuse the whole call.
if #settled > 0 then
  redis.call('ZREM', active, unpack(settled))
  redis.call('HDEL', owners, unpack(settled))
else
  redis.call('ZCARD', active)
end
if #removed > 0 then redis.call('UNLINK', unpack(removed)) end
for i = 1, done_n do
  if statuses[i] == 'ok' then emit('c', ids[i], ARGV[results(i) + results_value]) end
end
local gone = {}
for n = 1, #kept do
  local i, key, at = unpack(kept[n])
  local value = ARGV[results(i) + results_value]
  local hash = { 'finishedOn', string.format('%.0f', now), 'processedOn', at,
    'atm', atm[i], 'ats', ats[i] }
  if value ~= '' then hash[9] = 'returnvalue'; hash[10] = value end
  redis.call('HSET', key, unpack(hash))
  gone[#gone + 1] = now
  gone[#gone + 1] = ids[i]
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
  candidate[string.sub(KEYS[candidates_at + i], candidates_id)] = KEYS[candidates_at + i]
end
local mine = string.format('%.0f', now) .. ':' .. token
for i = 1, #taken do
  local id, fields = taken[i], {}
  local key = candidate[id]
  if key then
    fields = run_fields(key)
    if fields.err or not fields[1] then fields = {} end
  end
  local last = #fields
  while last > 0 and not fields[last] do
    fields[last] = nil
    last = last - 1
  end
  claimed[i] = { id, fields }
  scores[#scores + 1] = -(now + lease)
  scores[#scores + 1] = id
  own[#own + 1] = id
  own[#own + 1] = key and i <= begun and mine .. '!' or mine
  emit('a', id, '')
end
if #taken > 0 then
  redis.call('ZADD', active, unpack(scores))
  redis.call('HSET', owners, unpack(own))
end
local coming = {}
if hints > 0 then
  local ahead = redis.pcall('LRANGE', wait, -hints, -1)
  if not ahead.err then
    for i = 1, #ahead do coming[i] = ahead[#ahead + 1 - i] end
  end
end
flush_events()
return { all_ok and {} or statuses, claimed, coming }
