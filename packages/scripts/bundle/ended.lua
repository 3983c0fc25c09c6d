-- Names jobs that ended up to a time: a bounded range, oldest first.
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
local meta, completed, failed = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local count
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  count = b0 * 100 + b1 * 10 + b2 - 5328
end
if count > 500 then bad = bad or 'count' end
if not string.find(ARGV[3] .. ' ' .. ARGV[4], '^%d+ %d+$') then
  for _, arg in ipairs({ { 3, 'before' }, { 4, 'start' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local state = ARGV[2]
local before = ARGV[3] + 0
if before > 9007199254740991 then bad = bad or 'before' end
local start = ARGV[4] + 0
if start > 1000000000 then bad = bad or 'start' end
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= 4 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local set = ({ completed = completed, failed = failed })[state]
if not set then return redis.error_reply('EMQARG state') end
if count == 0 then return {} end
return redis.call('ZRANGEBYSCORE', set, '-inf', string.format('%.0f', before), 'LIMIT', start, count)
