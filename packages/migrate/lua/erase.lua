-- Removes v2 keys of a queue that is rolled back or removed.
--@include refuse
--@include run_fence
if not string.find(own, ':rollback$') and not string.find(own, ':remove$') then
  return redis.error_reply('EMQARG own')
end
local base = string.sub(stamp, 1, -5) .. 'v2:'
for i = 1, victims_n do
  local key = KEYS[victims_at + i]
  -- v2:meta goes last, with the stamp.
  if string.sub(key, 1, #base) ~= base or key == meta then return redis.error_reply('EMQARG victims') end
end
local gone = 0
for i = 1, victims_n do gone = gone + redis.call('UNLINK', KEYS[victims_at + i]) end
return gone
