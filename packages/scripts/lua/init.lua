-- Opens a queue: stamp, v2:meta version and opened in one step.
local known = redis.call('HMGET', meta, 'version', 'opened')
if found_version == false then
  -- v2:meta without a stamp is an intruder's work; only repair may put the stamp back.
  if redis.call('EXISTS', meta) == 1 then return redis.error_reply('EMQFENCE none') end
  redis.call('SET', stamp, 'echomq:2.0.0')
  redis.call('HSET', meta, 'version', 'echomq:2.0.0', 'opened', now)
  return 'created'
end
if known[2] then return 'open' end
-- `turn` takes two fields for these two.
redis.call('HSET', meta, 'version', known[1] or 'echomq:2.0.0', 'opened', now)
return 'opened'
