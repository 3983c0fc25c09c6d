-- Deduplication records of ended jobs. One without a TTL ends with its holder, and the successor that it
-- kept back takes its place.
local locks = {}
redis.call('ZCARD', held)
for l = 1, dedups_n do
  local key = KEYS[dedups_at + l]
  local said = redis.pcall('HMGET', key, 'job', 'next', 'due', 'front')
  if not said.err and said[1] and redis.call('PTTL', key) == -1 then
    local due = tonumber(said[3])
    if not (due and due > now and due <= 8640000000000000) then due = nil end
    local ranked = said[2] and redis.call('HGET', priorities, said[2])
    locks[l] = { key = key, job = said[1], next = said[2], due = due, front = said[4] == '1',
      rank = rank_of(ranked) }
  end
end

local function release(i)
  local l = items_number[ARGV[items(i) + items_numbers]][items_lock]
  local lock = locks[l]
  if not lock or lock.job ~= ids[i] then return end
  locks[l] = nil
  if not lock.next or redis.call('ZREM', held, lock.next) == 0 then
    redis.call('UNLINK', lock.key)
    return
  end
  redis.call('HSET', lock.key, 'job', lock.next)
  redis.call('HDEL', lock.key, 'next', 'due', 'front')
  if lock.due then
    put_off(lock.next, lock.due)
    if not first_due or lock.due < first_due then first_due = lock.due end
    emit('d', lock.next, string.format('%.0f', lock.due))
  else
    line_up(lock.next, lock.rank, lock.front and 'newest')
    emit('w', lock.next, '')
  end
end
