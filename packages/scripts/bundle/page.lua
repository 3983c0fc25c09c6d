-- Names ids of one state: a bounded range, oldest or newest first.
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
local meta, wait, prioritized, delayed, active, completed, failed, waiting_children, held = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local count, asc
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  count = b0 * 100 + b1 * 10 + b2 - 5328
  asc = b3 * 100 + b4 * 10 + b5 - 5328
end
if count > 500 then bad = bad or 'count' end
if asc > 1 then bad = bad or 'asc' end
if not string.find(ARGV[3], '^%d+$') then
  for _, arg in ipairs({ { 3, 'start' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local state = ARGV[2]
local start = ARGV[3] + 0
if start > 1000000000 then bad = bad or 'start' end
if not bad and #KEYS ~= 10 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local KEY = {
  waiting = wait, prioritized = prioritized, delayed = delayed, active = active,
  completed = completed, failed = failed, ['waiting-children'] = waiting_children, held = held,
}
local key = KEY[state]
if not key then return redis.error_reply('EMQARG state') end
if count == 0 then return {} end
local last = start + count - 1
if state == 'waiting' then
  if asc == 0 then return redis.call('LRANGE', wait, start, last) end
  local ids, out = redis.call('LRANGE', wait, -last - 1, -start - 1), {}
  for i = #ids, 1, -1 do out[#out + 1] = ids[i] end
  return out
end
-- Active is scored by minus the deadline: the lease that ends first stands last.
if (asc == 1) ~= (state == 'active') then return redis.call('ZRANGE', key, start, last) end
return redis.call('ZREVRANGE', key, start, last)
