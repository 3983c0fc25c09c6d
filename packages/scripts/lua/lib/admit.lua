-- Checks the rows of an add against each other and names what it adds.
if jobs_n ~= items_n then return redis.error_reply('EMQARG items') end
local ids, keys, owned = {}, {}, 0
for i = 1, jobs_n do
  keys[i] = KEYS[jobs_at + i]
  ids[i] = string.sub(keys[i], jobs_id)
  local row = items_base + (i - 1) * items_w
  local number = items_number[ARGV[row + items_numbers]]
  if number[items_timestamp] + number[items_delay] > 8640000000000000 then return redis.error_reply('EMQARG items.delay') end
  if number[items_flags] >= 2 then
    owned = owned + 1
    local logs = KEYS[namesakes_at + (owned - 1) * namesakes_w + 1]
    if not logs or string.sub(logs, namesakes_id) ~= ids[i] then
      return redis.error_reply('EMQARG namesakes')
    end
  end
end
if owned ~= namesakes_n then return redis.error_reply('EMQARG namesakes') end
