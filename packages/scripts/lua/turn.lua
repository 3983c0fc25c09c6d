-- One turn of a busy worker: settles completed jobs and claims from wait, with the fewest keys.
-- A queue with no setting has two fields, `version` and `opened`.
local opts = redis.call('HLEN', meta) == 2 and {}
  or redis.call('HMGET', meta, 'paused', 'concurrency', 'rate.max', 'verdicts', 'extras', 'events.max')
if opts[1] or opts[2] or opts[3] or opts[4] or opts[5] then
  return redis.error_reply('EMQRETRY the queue needs step')
end
local events_max = tonumber(opts[6] or '10000') or 10000
--@include lease
--@include events
--@include run_fields
--@include leases

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
