-- Leases, renews or releases one of the 1 024 node ids that mint job ids.
local unpack = unpack or table.unpack
local version = KEYS[1]
local found_version = redis.pcall('GET', version)
if found_version ~= false and not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local nodes = KEYS[2]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if not string.find(ARGV[1] .. ' ' .. ARGV[2], '^%d+ %d+$') then
  for _, arg in ipairs({ { 1, 'now' }, { 2, 'ttl' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[1] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local ttl = ARGV[2] + 0
if ttl > 9007199254740991 then bad = bad or 'ttl' end
local token = ARGV[3]
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
