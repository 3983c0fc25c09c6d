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
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
local odd, whole = string.gsub(ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 4 then
  for _, arg in ipairs({ { 1, 'jobs' }, { 2, 'start' }, { 3, 'count' }, { 4, 'asc' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local jobs_n = ARGV[1] + 0
if jobs_n > 500 then bad = bad or 'jobs' end
local start = ARGV[2] + 0
if start > 1000000000 then bad = bad or 'start' end
local count = ARGV[3] + 0
if count > 500 then bad = bad or 'count' end
local asc = ARGV[4] + 0
if asc > 1 then bad = bad or 'asc' end
local jobs_at, jobs_w = 3, 1
local jobs_id = #stamp - 4 + #'v2:logs:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 4 then bad = 'arguments' end
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
