-- Opens a queue: stamp, v2:meta version and opened in one step.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if found_version ~= false and not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta = KEYS[2]
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
local now = int(1, 'now')
if not bad and #KEYS ~= 2 then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local known = redis.call('HMGET', meta, 'version', 'opened')
if found_version == false then
  -- v2:meta without a stamp is an intruder's work; only repair may put the stamp back.
  if redis.call('EXISTS', meta) == 1 then return redis.error_reply('EMQFENCE none') end
  redis.call('SET', stamp, 'echomq:2.0.0')
  redis.call('HSET', meta, 'version', 'echomq:2.0.0', 'opened', now)
  return 'created'
end
if known[2] then return 'open' end
-- `turn` takes two fields for these two.
redis.call('HSET', meta, 'version', known[1] or 'echomq:2.0.0', 'opened', now)
return 'opened'
