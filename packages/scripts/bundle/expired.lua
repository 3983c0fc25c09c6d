-- Looks for work of the sweep: leases past their deadline and ids in trash, a marker that nobody armed.
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
local meta, active, owners, trash, wait, prioritized, marker, delayed = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
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
local now = int(1, 'now')
local limit = int(2, 'limit')
if limit > 500 then bad = bad or 'limit' end
if not bad and #KEYS ~= 9 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local found = redis.call('ZRANGEBYSCORE', active, string.format('%.0f', -now), '+inf',
  'WITHSCORES', 'LIMIT', 0, limit)
local ids, scores, leases_out = {}, {}, {}
for i = 1, #found, 2 do
  -- Newest deadline first and, of one deadline, the last id first: the reverse is the order of the line.
  local at = #ids + 1
  while at > 1 and scores[at - 1] == found[i + 1] do at = at - 1 end
  table.insert(ids, at, found[i])
  scores[#scores + 1] = found[i + 1]
end
local owner = {}
if #ids > 0 then owner = redis.call('HMGET', owners, unpack(ids)) end
for i = 1, #ids do leases_out[i] = { ids[i], scores[i], owner[i] or '' } end
local dead = limit > 0 and redis.call('ZRANGE', trash, 0, limit - 1) or {}
local opts = redis.call('HMGET', meta, 'paused')
local unmarked = 0
if not opts[1] and redis.call('ZCARD', marker) == 0
  and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then
  unmarked = 1
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { leases_out, dead, unmarked, head[2] and math.floor(tonumber(head[2])) or 0 }
