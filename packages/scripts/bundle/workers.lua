-- Names the workers heard of since a time, longest silent first, and counts them.
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
local meta, workers, workers_info = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
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
if not string.find(ARGV[2] .. ' ' .. ARGV[3], '^%d+ %d+$') then
  for _, arg in ipairs({ { 2, 'since' }, { 3, 'start' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local since = ARGV[2] + 0
if since > 9007199254740991 then bad = bad or 'since' end
local since_text = ARGV[2]
if since < 10 ^ (#since_text - 1) and since_text ~= '0' then bad = bad or 'since' end
local start = ARGV[3] + 0
if start > 1000000000 then bad = bad or 'start' end
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
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
