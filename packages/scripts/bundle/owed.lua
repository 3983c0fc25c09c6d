-- Reads effects owed to other queues that are due, oldest first.
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
local meta, outbox, outbox_due = KEYS[2], KEYS[3], KEYS[4]
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
local limit = int(2, 'limit')
if limit > 100 then bad = bad or 'limit' end
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('HLEN', outbox)
local ids = redis.call('ZRANGEBYSCORE', outbox_due, '-inf', string.format('%.0f', now),
  'LIMIT', 0, limit)
if #ids == 0 then return {} end
local said, out = redis.call('HMGET', outbox, unpack(ids)), {}
for i = 1, #ids do out[i] = { ids[i], said[i] or '' } end
return out
