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
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
local odd, whole = string.gsub(ARGV[1] .. ' ' .. ARGV[2] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 2 then
  for _, arg in ipairs({ { 1, 'records' }, { 2, 'limit' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local records_n = ARGV[1] + 0
if records_n > 500 then bad = bad or 'records' end
local limit = ARGV[2] + 0
if limit > 500 then bad = bad or 'limit' end
local records_at, records_w = 3, 1
local records_id = #stamp - 4 + #'v2:sched:' + 1
if not bad and #KEYS ~= records_at + records_n * records_w then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
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
