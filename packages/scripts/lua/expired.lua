-- Looks for work of the sweep: leases past their deadline and ids in trash, a marker that nobody armed.
local found = redis.call('ZRANGEBYSCORE', active, string.format('%.0f', -now), '+inf',
  'WITHSCORES', 'LIMIT', 0, limit)
local ids, scores, leases_out = {}, {}, {}
for i = 1, #found, 2 do
  -- Newest deadline first and, of one deadline, the last id first: the reverse is the order of the line.
  local at = #ids + 1
  while at > 1 and scores[at - 1] == found[i + 1] do at = at - 1 end
  table.insert(ids, at, found[i])
  scores[#scores + 1] = found[i + 1]
end
local owner = {}
if #ids > 0 then owner = redis.call('HMGET', owners, unpack(ids)) end
for i = 1, #ids do leases_out[i] = { ids[i], scores[i], owner[i] or '' } end
local dead = limit > 0 and redis.call('ZRANGE', trash, 0, limit - 1) or {}
local opts = redis.call('HMGET', meta, 'paused')
local unmarked = 0
if not opts[1] and redis.call('ZCARD', marker) == 0
  and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then
  unmarked = 1
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { leases_out, dead, unmarked, head[2] and math.floor(tonumber(head[2])) or 0 }
