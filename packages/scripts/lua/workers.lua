-- Names the workers heard of since a time, longest silent first, and counts them.
local since_text = string.format('%.0f', since)
local found = redis.call('ZRANGEBYSCORE', workers, since_text, '+inf', 'WITHSCORES',
  'LIMIT', start, count)
local ids, out = {}, {}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
local info = {}
if #ids > 0 then info = redis.call('HMGET', workers_info, unpack(ids)) end
for i = 1, #ids do
  out[i] = { ids[i], math.floor(tonumber(found[i * 2])), info[i] or '' }
end
return { redis.call('ZCOUNT', workers, since_text, '+inf'), out }
