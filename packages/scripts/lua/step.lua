-- Settles completed jobs and claims the next ones in one step.
local opts = redis.call('HMGET', meta, 'paused', 'concurrency', 'events.max', 'verdicts',
  'rate.max', 'rate.ms')
local limit = tonumber(opts[2])
if limit then limit = math.floor(limit) end
local events_text = opts[3]
--@include lease
--@include events
--@include retain

if done_n ~= results_n then return redis.error_reply('EMQARG results') end
if not string.find(token, '^[%w._-]+$') and claim > 0 then
  return redis.error_reply('EMQARG token')
end

-- Reads that also prove the type of everything written below.
local running = redis.call('ZCARD', active)
local marked = redis.call('ZCARD', marker)
--@include marker
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

--@include verify

--@include rate

-- What to pop, seen before the first write, so the types of both lines are proven too.
local room = math.min(claim, places)
if limit then room = math.min(room, math.max(limit - (running - #settled), 0)) end
local preview, ranked, ending = {}, {}, {}
local open = not opts[1] and (claim > 0 or limit)
local look = room + math.max(hints, 1)
if doomed > 0 then look = math.max(look, claim + 1, 100) end
if open then preview = redis.call('LRANGE', wait, -look, -1) end
local short = look - #preview
--@include ending
if open and short > 0 then ranked = redis.call('ZRANGE', prioritized, 0, short - 1) end
local take_wait = math.min(room, #preview)
local take_ranked = math.min(room - take_wait, #ranked)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
local candidate = {}
for i = 1, candidates_n do
  candidate[string.sub(KEYS[candidates_at + i], candidates_id)] = KEYS[candidates_at + i]
end
--@include claim

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
