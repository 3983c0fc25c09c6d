-- Reads a bounded range of one job's log lines, oldest or newest first, and how many there are.
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
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 9 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, count, asc
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8 = string.byte(ARGV[1], 1, 9)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  count = b3 * 100 + b4 * 10 + b5 - 5328
  asc = b6 * 100 + b7 * 10 + b8 - 5328
end
if jobs_n > 500 then bad = bad or 'jobs' end
if count > 500 then bad = bad or 'count' end
if asc > 1 then bad = bad or 'asc' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'start' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local start = ARGV[2] + 0
if start > 1000000000 then bad = bad or 'start' end
local jobs_at, jobs_w = 3, 1
local jobs_id = #stamp - 4 + #'v2:logs:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
local key = KEYS[jobs_at + 1]
local total = redis.call('LLEN', key)
-- What stands in trash is gone for everyone but bury.
if redis.call('ZSCORE', trash, string.sub(key, jobs_id)) then return { {}, 0 } end
if count == 0 then return { {}, total } end
local last = start + count - 1
if asc == 1 then return { redis.call('LRANGE', key, start, last), total } end
local lines, out = redis.call('LRANGE', key, -last - 1, -start - 1), {}
for i = #lines, 1, -1 do out[#out + 1] = lines[i] end
return { out, total }
