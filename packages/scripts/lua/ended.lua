-- Names jobs that ended up to a time: a bounded range, oldest first.
local set = ({ completed = completed, failed = failed })[state]
if not set then return redis.error_reply('EMQARG state') end
if count == 0 then return {} end
return redis.call('ZRANGEBYSCORE', set, '-inf', string.format('%.0f', before), 'LIMIT', start, count)
