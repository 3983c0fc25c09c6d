-- Tells when jobs were added, in server ms; empty for one that is gone.
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
local meta, trash = KEYS[2], KEYS[3]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if jobs_n > 500 then bad = bad or 'jobs' end
local jobs_at, jobs_w = 3, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('ZCARD', trash)
local out = {}
for i = 1, jobs_n do
  local key = KEYS[jobs_at + i]
  local at = redis.pcall('HGET', key, 'timestamp')
  local dead = redis.call('ZSCORE', trash, string.sub(key, jobs_id))
  out[i] = type(at) == 'string' and not dead and at or ''
end
return out
