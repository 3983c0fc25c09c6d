-- Removes schedulers with their records from a queue that is being taken down, and names the next ones.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, schedulers = KEYS[2], KEYS[3]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local records_n, limit
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  records_n = b0 * 100 + b1 * 10 + b2 - 5328
  limit = b3 * 100 + b4 * 10 + b5 - 5328
end
if records_n > 500 then bad = bad or 'records' end
if limit > 500 then bad = bad or 'limit' end
local records_at, records_w = 3, 1
local records_id = #stamp - 4 + #'v2:sched:' + 1
if not bad and #KEYS ~= records_at + records_n * records_w then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local known = redis.call('HMGET', meta, 'closing')
if not known[1] then return redis.error_reply('EMQSTATE the queue is not closing') end
redis.call('ZCARD', schedulers)
for i = 1, records_n do
  redis.call('ZREM', schedulers, string.sub(KEYS[records_at + i], records_id))
  redis.call('UNLINK', KEYS[records_at + i])
end
if limit == 0 then return {} end
return redis.call('ZRANGE', schedulers, 0, limit - 1)
