-- Begins to take a queue down: from here on it takes no job and gives none out.
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
local meta, active = KEYS[2], KEYS[3]
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
local force = int(2, 'force')
if force > 1 then bad = bad or 'force' end
if not bad and #KEYS ~= 3 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local known = redis.call('HMGET', meta, 'closing')
local running = redis.call('ZCARD', active)
if running > 0 and force == 0 then
  return redis.error_reply('EMQSTATE jobs are active: ' .. running)
end
if known[1] then return 'closing' end
-- Begins with a write that maxmemory lets pass: what follows frees memory.
redis.call('HDEL', meta, 'closing')
redis.call('HSET', meta, 'closing', now, 'paused', '1')
return 'closed'
