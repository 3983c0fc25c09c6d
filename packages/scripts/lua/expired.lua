-- Looks for work of the sweep: leases past their deadline and ids in trash, a marker that nobody armed.
--@include lease
--@include deadline
--@include line_order
local found = redis.call('ZRANGEBYSCORE', active, '(' .. string.format('%.0f', -now - 1), '+inf',
  'WITHSCORES', 'LIMIT', 0, limit)
-- What lies further ahead than any lease can was written by another clock.
local wrong = redis.call('ZRANGEBYSCORE', active, '-inf', string.format('%.0f', -now - LONGEST - 1),
  'WITHSCORES', 'LIMIT', 0, limit)
for i = 1, #wrong do found[#found + 1] = wrong[i] end
local ids, leases_out = {}, {}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
local owner = {}
if #ids > 0 then owner = redis.call('HMGET', owners, unpack(ids)) end
for i = 1, #ids do leases_out[i] = { ids[i], found[2 * i], owner[i] or '' } end
local dead = limit > 0 and redis.call('ZRANGE', trash, 0, limit - 1) or {}
local opts = redis.call('HMGET', meta, 'paused')
local unmarked = 0
if not opts[1] and redis.call('ZCARD', marker) == 0
  and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then
  unmarked = 1
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { line_order(leases_out), dead, unmarked, head[2] and math.floor(tonumber(head[2])) or 0 }
