-- Looks for work of the sweep: leases past their deadline and ids in trash, a marker that nobody armed.
local found = redis.call('ZRANGEBYSCORE', active, string.format('%.0f', -now), '+inf',
  'WITHSCORES', 'LIMIT', 0, limit)
local ids, leases_out = {}, {}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
local owner = {}
if #ids > 0 then owner = redis.call('HMGET', owners, unpack(ids)) end
for i = 1, #ids do leases_out[i] = { ids[i], found[i * 2], owner[i] or '' } end
local dead = redis.call('ZRANGE', trash, 0, limit - 1)
local opts = redis.call('HMGET', meta, 'paused')
local unmarked = 0
if not opts[1] and redis.call('ZCARD', marker) == 0
  and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then
  unmarked = 1
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { leases_out, dead, unmarked, head[2] and math.floor(tonumber(head[2])) or 0 }
