-- Reads effects owed to other queues that are due, oldest first.
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
local meta, outbox, outbox_due = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local limit
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  limit = b0 * 100 + b1 * 10 + b2 - 5328
end
if limit > 100 then bad = bad or 'limit' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'now' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('HLEN', outbox)
local ids = redis.call('ZRANGEBYSCORE', outbox_due, '-inf', string.format('%.0f', now),
  'LIMIT', 0, limit)
if #ids == 0 then return {} end
local said, out = redis.call('HMGET', outbox, unpack(ids)), {}
for i = 1, #ids do out[i] = { ids[i], said[i] or '' } end
return out
