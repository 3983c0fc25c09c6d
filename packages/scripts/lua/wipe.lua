-- Ends taking a queue down: when every structure is empty, removes the rest and opens the queue again.
-- The stamp stays, and so do the queue's settings.
local known = redis.call('HMGET', meta, 'closing')
if not known[1] then return 'open' end
local left = ''
local function empty(name, size)
  if size > 0 and left == '' then left = name end
end
empty('waiting', redis.call('LLEN', wait))
for _, set in ipairs({
  { 'delayed', delayed }, { 'prioritized', prioritized }, { 'held', held },
  { 'waiting-children', waiting_children }, { 'active', active }, { 'completed', completed },
  { 'failed', failed }, { 'trash', trash }, { 'outbox', outbox_due },
  { 'staged', staged }, { 'schedulers', schedulers },
}) do
  empty(set[1], redis.call('ZCARD', set[2]))
end
empty('outbox', redis.call('HLEN', outbox))
empty('extras', redis.call('SCARD', extras))
if left ~= '' then return left end
redis.call('UNLINK', priorities, verdicts, owners, parents, pc, marker, limiter, events, workers,
  workers_info, metrics_completed, metrics_failed)
redis.call('HDEL', meta, 'closing', 'paused', 'verdicts', 'extras')
return ''
