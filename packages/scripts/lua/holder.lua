-- Names the job that holds each deduplication record, if the record is valid.
--@include record
if dedups_n ~= holders_n then return redis.error_reply('EMQARG holders') end
redis.call('ZCARD', trash)
local out = {}
for i = 1, dedups_n do
  local record = read_record(KEYS[dedups_at + i], KEYS[holders_at + i])
  if record.moved then return redis.error_reply('EMQRETRY ' .. record.job) end
  out[i] = record.job or false
end
return out
