-- Reads a bounded range of one job's log lines, oldest or newest first, and how many there are.
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
local meta, trash = KEYS[2], KEYS[3]
local bad
local number = {}
local function int(at, name)
  local text = ARGV[at]
  if number[text] then return number[text] end
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then
      number[text] = value
      return value
    end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end
local jobs_n = int(1, 'jobs')
if jobs_n > 500 then bad = bad or 'jobs' end
local start = int(2, 'start')
if start > 1000000000 then bad = bad or 'start' end
local count = int(3, 'count')
if count > 500 then bad = bad or 'count' end
local asc = int(4, 'asc')
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
