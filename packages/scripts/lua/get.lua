-- Reads one job: its fields, its state and, while it runs, its owner.
local SETS = {
  { 'active', active },
  { 'delayed', delayed },
  { 'prioritized', prioritized },
  { 'completed', completed },
  { 'failed', failed },
  { 'waiting-children', waiting_children },
  { 'held', held },
}
local out = {}
for i = 1, jobs_n do
  local id = string.sub(KEYS[jobs_at + i], jobs_id)
  local fields = redis.call('HGETALL', KEYS[jobs_at + i])
  out[i] = false
  if #fields > 0 and not redis.call('ZSCORE', trash, id) then
    -- The wait list is not walked: a job in no other state is waiting.
    local state = 'waiting'
    for _, set in ipairs(SETS) do
      if state == 'waiting' and redis.call('ZSCORE', set[2], id) then state = set[1] end
    end
    out[i] = { state, redis.call('HGET', owners, id), fields }
  end
end
return out
