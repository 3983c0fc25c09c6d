-- Strikes effects that were applied off the outbox, and puts off those that were refused.
redis.call('HLEN', outbox)
redis.call('ZCARD', outbox_due)
local done, later = {}, {}
for i = 1, items_n do
  local effect, due = ARGV[items(i) + items_effect], tonumber(ARGV[items(i) + items_due])
  if due == 0 then
    done[#done + 1] = effect
  elseif redis.call('ZSCORE', outbox_due, effect) then
    later[#later + 1] = due
    later[#later + 1] = effect
  end
end
if #done > 0 then
  redis.call('ZREM', outbox_due, unpack(done))
  redis.call('HDEL', outbox, unpack(done))
end
if #later > 0 then redis.call('ZADD', outbox_due, 'XX', unpack(later)) end
return #done
