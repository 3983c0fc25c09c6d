-- Tells when jobs were added, in server ms; empty for one that is gone.
redis.call('ZCARD', trash)
local out = {}
for i = 1, jobs_n do
  local key = KEYS[jobs_at + i]
  local at = redis.pcall('HGET', key, 'timestamp')
  local dead = redis.call('ZSCORE', trash, string.sub(key, jobs_id))
  out[i] = type(at) == 'string' and not dead and at or ''
end
return out
