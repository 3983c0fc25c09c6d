-- Carries deduplication keys with the time they have left.
--@include refuse
--@include other_source
--@include run_fence
--@include source
if sources_n ~= records_n then return redis.error_reply('EMQARG sources') end
local statuses, values, left = {}, {}, {}
for i = 1, sources_n do
  if KEYS[sources_at + i] == KEYS[records_at + i]
    or string.sub(KEYS[sources_at + i], 1, #source) ~= source then
    return redis.error_reply('EMQARG sources')
  end
  values[i] = redis.pcall('GET', KEYS[sources_at + i])
  left[i] = redis.call('PTTL', KEYS[sources_at + i])
  statuses[i] = type(values[i]) == 'table' and 'wrongtype' or values[i] and 'ok' or 'gone'
end
for i = 1, sources_n do
  if statuses[i] == 'ok' then
    redis.call('UNLINK', KEYS[records_at + i])
    redis.call('HSET', KEYS[records_at + i], 'job', values[i])
    if left[i] > 0 then redis.call('PEXPIRE', KEYS[records_at + i], left[i]) end
  end
end
return statuses
