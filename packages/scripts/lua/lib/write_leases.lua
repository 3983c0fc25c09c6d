-- Writes `count` new leases. A sorted set or hash of up to 128 members is a packed list, scanned for each member:
-- for a batch the other encoding is cheaper, and one long member brings it, until the key is empty. No id has a
-- control character.
if count < 8 then
  redis.call('ZADD', active, unpack(scores))
  redis.call('HSET', owners, unpack(own))
else
  local long, n = string.rep('\1', 65), 2 * count
  scores[n + 1], scores[n + 2], own[n + 1], own[n + 2] = scores[1], scores[2], own[1], own[2]
  scores[1], scores[2], own[1], own[2] = 0, long, long, ''
  redis.call('ZADD', active, unpack(scores))
  redis.call('HSET', owners, unpack(own))
  redis.call('ZREM', active, long)
  redis.call('HDEL', owners, long)
end
