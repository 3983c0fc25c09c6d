-- Starts claimed jobs: verifies the lease and returns their fields, in a flat list.
--@include lease
if jobs_n == 0 then return { false, false, {} } end
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local owner = redis.call('HMGET', owners, unpack(ids))
local why = redis.call('HLEN', verdicts) > 0 and redis.call('HMGET', verdicts, unpack(ids))
redis.call('ZCARD', active)

local claimed, n, begun, lost, statuses = {}, 0, {}, {}, nil
local last, held, started
--@include read_once
for i = 1, jobs_n do
  -- Jobs of one claim have one owner's text.
  if owner[i] ~= last then
    last = owner[i]
    local at, marked
    held, at, marked = lease_of(last)
    started = held and (marked and last or last .. '!')
  end
  local id, key, fields, text, status = ids[i], KEYS[jobs_at + i], nil, nil, nil
  if held and held == token then
    --@include run_fields
    if text or fields then
      begun[#begun + 1] = id
      begun[#begun + 1] = started
    else
      status = 'missing'
      lost[#lost + 1] = id
    end
  else
    status = 'lost'
  end
  if status and not statuses then
    statuses = {}
    for before = 1, i - 1 do statuses[before] = 'ok' end
  end
  if statuses then statuses[i] = status or 'ok' end
  --@include tell_job
end
if #lost > 0 then
  redis.call('ZREM', active, unpack(lost))
  redis.call('HDEL', owners, unpack(lost))
  redis.call('HDEL', verdicts, unpack(lost))
end
if #begun > 0 then
  -- The first write must be one that maxmemory lets pass; what comes after one passes too.
  redis.call('HDEL', owners, begun[1])
  redis.call('HSET', owners, unpack(begun))
end
return { statuses or false, why or false, claimed }
