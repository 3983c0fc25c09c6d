-- Begins to take a queue down: from here on it takes no job and gives none out.
local known = redis.call('HMGET', meta, 'closing')
local running = redis.call('ZCARD', active)
if running > 0 and force == 0 then
  return redis.error_reply('EMQSTATE jobs are active: ' .. running)
end
if known[1] then return 'closing' end
-- Begins with a write that maxmemory lets pass: what follows frees memory.
redis.call('HDEL', meta, 'closing')
redis.call('HSET', meta, 'closing', now, 'paused', '1')
return 'closed'
