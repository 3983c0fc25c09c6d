-- Tells what is wrong with jobs: each id's place, hash, lease, priority and other keys, in one step.
--@include diagnose
if jobs_n ~= seen_n then return redis.error_reply('EMQARG seen') end
if walk == 1 and jobs_n > 10 then return redis.error_reply('EMQARG jobs') end
redis.call('LLEN', wait)
local out = {}
for i = 1, jobs_n do
  out[i] = diagnose(i, walk == 1, tonumber(ARGV[seen(i) + seen_waits])).faults
end
return out
