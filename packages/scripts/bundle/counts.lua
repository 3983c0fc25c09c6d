-- Counts the jobs of every state in one step.
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
local bad
if not bad and #KEYS ~= 10 then bad = 'keys' end
if not bad and #ARGV ~= 0 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local out = { redis.call('LLEN', wait) }
for i, set in ipairs({ prioritized, delayed, active, completed, failed, waiting_children, held }) do
  out[i + 1] = redis.call('ZCARD', set)
end
out[9] = redis.call('HEXISTS', meta, 'paused')
return out
