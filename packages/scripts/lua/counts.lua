-- Counts the jobs of every state in one step.
local out = { redis.call('LLEN', wait) }
for i, set in ipairs({ prioritized, delayed, active, completed, failed, waiting_children, held }) do
  out[i + 1] = redis.call('ZCARD', set)
end
out[9] = redis.call('HEXISTS', meta, 'paused')
return out
