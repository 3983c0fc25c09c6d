-- Removes every key of jobs that are in trash. An id that is not is somebody's again and is left alone.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, trash, extras = KEYS[2], KEYS[3], KEYS[4]
local bad
local function int(at, name)
  local text = ARGV[at]
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then return value end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end
local jobs_n = int(1, 'jobs')
if jobs_n > 100 then bad = bad or 'jobs' end
local jobs_at, jobs_w = 4, 5
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('ZCARD', trash)
redis.call('SCARD', extras)
redis.call('HLEN', meta)
local buried = 0
for i = 1, jobs_n do
  local at = jobs_at + (i - 1) * jobs_w
  local id = string.sub(KEYS[at + 1], jobs_id)
  if redis.call('ZREM', trash, id) == 1 then
    redis.call('UNLINK', KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[at + 5])
    redis.call('SREM', extras, id)
    buried = buried + 1
  end
end
if buried > 0 and redis.call('SCARD', extras) == 0 then redis.call('HDEL', meta, 'extras') end
return buried
