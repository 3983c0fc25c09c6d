-- Removes every key of jobs that are in trash. An id that is not is somebody's again and is left alone.
redis.call('ZCARD', trash)
redis.call('ZCARD', held)
redis.call('SCARD', extras)
redis.call('HLEN', priorities)
redis.call('HLEN', meta)
if dedups_n ~= locks_n then return redis.error_reply('EMQARG locks') end
local record_of = {}
for l = 1, locks_n do
  local i, key = tonumber(ARGV[locks(l) + locks_job]), KEYS[dedups_at + l]
  if i < 1 or i > jobs_n then return redis.error_reply('EMQARG locks.job') end
  local said = redis.pcall('HMGET', key, 'job', 'next')
  local ended = redis.pcall('HEXISTS', KEYS[jobs_at + (i - 1) * jobs_w + 1], 'finishedOn') == 1
  -- A throttle goes on behind a job that ended; one that never ran takes it along.
  if not said.err and not (ended and redis.call('PTTL', key) >= 0) then
    record_of[i] = { key = key, job = said[1], next = said[2] }
  end
end
local buried = 0
for i = 1, jobs_n do
  local at = jobs_at + (i - 1) * jobs_w
  local id = string.sub(KEYS[at + 1], jobs_id)
  local since = redis.call('ZSCORE', trash, id)
  if redis.call('ZREM', trash, id) == 1 then
    redis.call('UNLINK', KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[at + 5])
    redis.call('SREM', extras, id)
    buried = buried + 1
    local record = record_of[i]
    if record and record.job == id then
      redis.call('UNLINK', record.key)
      -- What it kept back goes with it.
      if record.next and redis.call('ZREM', held, record.next) == 1 then
        redis.call('HDEL', priorities, record.next)
        redis.call('ZADD', trash, since, record.next)
      end
    end
  end
end
if buried > 0 and redis.call('SCARD', extras) == 0 then redis.call('HDEL', meta, 'extras') end
return buried
