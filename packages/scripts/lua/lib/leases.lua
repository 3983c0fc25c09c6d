-- Writes new leases. A sorted set or hash of up to 128 members is a packed list, scanned for each member: for a
-- batch the other encoding is cheaper, and one long member brings it, until the key is empty. No id has a
-- control character.
local MANY = 8

local function write_leases(scores, own, count)
  local long, n = count >= MANY and string.rep('\1', 65), 2 * count
  if long then
    scores[n + 1], scores[n + 2], own[n + 1], own[n + 2] = scores[1], scores[2], own[1], own[2]
    scores[1], scores[2], own[1], own[2] = 0, long, long, ''
  end
  redis.call('ZADD', active, unpack(scores))
  redis.call('HSET', owners, unpack(own))
  if long then
    redis.call('ZREM', active, long)
    redis.call('HDEL', owners, long)
  end
end
