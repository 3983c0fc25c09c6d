-- Writes new leases. A sorted set or hash of up to 128 members is a packed list, scanned for each member: for a
-- batch the other encoding is cheaper, and one long member brings it, until the key is empty. No id has a
-- control character.
local MANY, LONG = 4, string.rep('\1', 65)

local function write_leases(scores, own, count)
  local many, n = count >= MANY, 2 * count
  if many then
    scores[n + 1], scores[n + 2], own[n + 1], own[n + 2] = scores[1], scores[2], own[1], own[2]
    scores[1], scores[2], own[1], own[2] = 0, LONG, LONG, ''
  end
  redis.call('ZADD', active, unpack(scores))
  redis.call('HSET', owners, unpack(own))
  if many then
    redis.call('ZREM', active, LONG)
    redis.call('HDEL', owners, LONG)
  end
end
