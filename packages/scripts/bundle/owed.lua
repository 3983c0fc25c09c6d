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
local odd, whole = string.gsub(ARGV[1] .. ' ' .. ARGV[2] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 2 then
  for _, arg in ipairs({ { 1, 'now' }, { 2, 'limit' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[1] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local limit = ARGV[2] + 0
if limit > 100 then bad = bad or 'limit' end
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
