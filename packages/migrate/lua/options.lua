-- Carries the queue's options and its metrics, and notes the end of the copy.
--@include refuse
--@include other_source
--@include run_fence
--@include source
local OWN = { version = 1, opened = 1, migrated = 1, source = 1, closing = 1 }
local fields, done, broken = {}, {}, {}
for i = 1, rows_n do
  local field = ARGV[rows(i) + rows_field]
  if OWN[field] or string.sub(field, 1, 7) == 'copied.' then
    return redis.error_reply('EMQARG rows.field')
  end
  fields[#fields + 1] = field
  fields[#fields + 1] = ARGV[rows(i) + rows_value]
end
for i = 1, minutes_n do
  local metric = ARGV[minutes(i) + minutes_metric]
  local list = metric == 'completed' and done or metric == 'failed' and broken
  if not list then return redis.error_reply('EMQARG minutes.metric') end
  local number = minutes_number[ARGV[minutes(i) + minutes_numbers]]
  list[#list + 1] = number[minutes_minute_text]
  list[#list + 1] = number[minutes_count_text]
end
redis.call('HLEN', meta)
redis.call('HLEN', metrics_completed)
redis.call('HLEN', metrics_failed)
if last > 0 then
  fields[#fields + 1] = 'copied.all'
  fields[#fields + 1] = '1'
end
if #fields > 0 then redis.call('HSET', meta, unpack(fields)) end
if #done > 0 then redis.call('HSET', metrics_completed, unpack(done)) end
if #broken > 0 then redis.call('HSET', metrics_failed, unpack(broken)) end
return rows_n + minutes_n
