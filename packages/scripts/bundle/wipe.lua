-- Ends taking a queue down: when every structure is empty, removes the rest and opens the queue again.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, wait, prioritized, delayed, active, owners, completed, failed, waiting_children, parents, held, trash, extras, outbox, outbox_due, staged, schedulers, priorities, verdicts, pc, marker, limiter, events, workers, workers_info, metrics_completed, metrics_failed = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18], KEYS[19], KEYS[20], KEYS[21], KEYS[22], KEYS[23], KEYS[24], KEYS[25], KEYS[26], KEYS[27], KEYS[28]
local bad
if not bad and #KEYS ~= 28 then bad = 'keys' end
if not bad and #ARGV ~= 0 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
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
