-- Names ids of one state: a bounded range, oldest or newest first.
local KEY = {
  waiting = wait, prioritized = prioritized, delayed = delayed, active = active,
  completed = completed, failed = failed, ['waiting-children'] = waiting_children, held = held,
}
local key = KEY[state]
if not key then return redis.error_reply('EMQARG state') end
if count == 0 then return {} end
local last = start + count - 1
if state == 'waiting' then
  if asc == 0 then return redis.call('LRANGE', wait, start, last) end
  local ids, out = redis.call('LRANGE', wait, -last - 1, -start - 1), {}
  for i = #ids, 1, -1 do out[#out + 1] = ids[i] end
  return out
end
-- Active is scored by minus the deadline: the lease that ends first stands last.
if (asc == 1) ~= (state == 'active') then return redis.call('ZRANGE', key, start, last) end
return redis.call('ZREVRANGE', key, start, last)
