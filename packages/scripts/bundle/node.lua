-- Leases, renews or releases one of the 1 024 node ids that mint job ids.
local unpack = unpack or table.unpack
local version = KEYS[1]
local found_version = redis.pcall('GET', version)
if found_version ~= false and not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local nodes = KEYS[2]
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
local ttl = int(2, 'ttl')
local token = text(3, 'token')
if not bad and #KEYS ~= 2 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- A node's field holds `<end of lease>:<token>`.
if token == '' then return redis.error_reply('EMQARG token') end
local all = redis.call('HGETALL', nodes)
local taken, mine = {}, nil
for i = 1, #all, 2 do
  local ends, holder = string.match(all[i + 1], '^(%d+):(.+)$')
  if holder == token then
    mine = all[i]
    taken[all[i]] = true
  elseif ends and tonumber(ends) > now then
    taken[all[i]] = true
  end
end
if ttl == 0 then
  if mine then redis.call('HDEL', nodes, mine) end
  return mine and tonumber(mine) or 0
end
if not mine then
  for n = 0, 1023 do
    if not taken[tostring(n)] then
      mine = tostring(n)
      break
    end
  end
end
if not mine then return redis.error_reply('EMQFULL all 1024 node ids are leased') end
-- The first lease on a server says which wire its reserve is for.
if found_version == false then redis.call('SET', version, 'echomq:2.0.0') end
redis.call('HSET', nodes, mine, string.format('%.0f', now + ttl) .. ':' .. token)
return tonumber(mine)
