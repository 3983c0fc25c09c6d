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
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
local odd, whole = string.gsub(ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 3 then
  for _, arg in ipairs({ { 2, 'start' }, { 3, 'count' }, { 4, 'asc' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local state = ARGV[1]
local start = ARGV[2] + 0
if start > 1000000000 then bad = bad or 'start' end
local count = ARGV[3] + 0
if count > 500 then bad = bad or 'count' end
local asc = ARGV[4] + 0
if asc > 1 then bad = bad or 'asc' end
if not bad and #KEYS ~= 10 then bad = 'keys' end
if not bad and #ARGV ~= 4 then bad = 'arguments' end
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
