-- Reads why jobs must end.
if items_n == 0 then return {} end
local ids = {}
for i = 1, items_n do ids[i] = ARGV[items(i) + items_id] end
return redis.call('HMGET', verdicts, unpack(ids))
