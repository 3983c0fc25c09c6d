-- Tells when jobs were added, in server ms; empty for one that is gone.
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
