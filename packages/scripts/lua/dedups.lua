-- Finds deduplication records without expiry whose job is gone; removes them when asked to.
if records_n ~= jobs_n then return redis.error_reply('EMQARG jobs') end
redis.call('ZCARD', trash)
local out = {}
for i = 1, records_n do
  local record, job = KEYS[records_at + i], KEYS[jobs_at + i]
  local id = string.sub(job, jobs_id)
  local held = redis.pcall('HMGET', record, 'job', 'next')
  local name = redis.pcall('HEXISTS', job, 'name')
  out[i] = 'kept'
  if held.err then
    out[i] = 'wrong'
  elseif held[1] ~= id then
    out[i] = held[1] and 'moved' or 'gone'
  elseif (name == 0 or redis.call('ZSCORE', trash, id)) and redis.call('PTTL', record) == -1 then
    -- A successor is still owed its place: that record is told, not removed.
    out[i] = held[2] and 'owing' or 'stray'
    if fix == 1 and not held[2] then redis.call('UNLINK', record) end
  end
end
return out
