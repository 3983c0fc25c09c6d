-- Moves the deadline of leases that are still owned.
--@include lease
--@include deadline
if leases_n == 0 then return { {}, {} } end
local ids = {}
for i = 1, leases_n do ids[i] = ARGV[leases(i) + leases_id] end
local owner = redis.call('HMGET', owners, unpack(ids))
local why = redis.call('HMGET', verdicts, unpack(ids))
local score = redis.call('ZMSCORE', active, unpack(ids))

local lost, told, scores, kept = {}, {}, {}, {}
for i = 1, leases_n do
  if lease_of(owner[i]) ~= ARGV[leases(i) + leases_token] then
    lost[#lost + 1] = ids[i]
  else
    kept[#kept + 1] = ids[i]
    local _, place = deadline_of(score[i] or 0)
    scores[#scores + 1] = -(deadline + place)
    scores[#scores + 1] = ids[i]
    if why[i] then told[#told + 1] = { ids[i], why[i] } end
  end
end
-- Taken out before it is put back: the first write must be one that maxmemory lets pass.
if #kept > 0 then
  redis.call('ZREM', active, unpack(kept))
  redis.call('ZADD', active, unpack(scores))
end
return { lost, told }
