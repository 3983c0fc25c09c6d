-- Leases, renews or releases one of the 1 024 node ids that mint job ids.
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
