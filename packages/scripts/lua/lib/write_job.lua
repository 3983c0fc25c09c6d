-- Writes the hash of a new job, over what is left of a retired namesake.
local function write_job(i, namesake)
  local id, row = ids[i], items_base + (i - 1) * items_w
  if namesake > 0 then
    -- The first write allocates, or an add would slip past maxmemory behind the UNLINK.
    redis.call('HSET', keys[i], 'name', ARGV[row + items_name])
    local at = namesakes_at + (namesake - 1) * namesakes_w
    redis.call('UNLINK', keys[i], KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4])
    redis.call('ZREM', trash, id)
    redis.call('SREM', extras, id)
    redis.call('HDEL', priorities, id)
  end
  local number, opts_text = items_number[ARGV[row + items_numbers]], ARGV[row + items_opts]
  local delay, priority = number[items_delay], number[items_priority]
  if delay == 0 and priority == 0 and not lock_of[i] then
    if opts_text == '' then
      redis.call('HSET', keys[i], 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
        'timestamp', number[items_timestamp_text])
    else
      redis.call('HSET', keys[i], 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
        'timestamp', number[items_timestamp_text], 'opts', opts_text)
    end
    return nil
  end
  local hash = { 'name', ARGV[row + items_name], 'data', ARGV[row + items_data],
    'timestamp', number[items_timestamp_text] }
  if opts_text ~= '' then hash[#hash + 1] = 'opts'; hash[#hash + 1] = opts_text end
  if delay > 0 then hash[#hash + 1] = 'delay'; hash[#hash + 1] = number[items_delay_text] end
  if priority > 0 then hash[#hash + 1] = 'priority'; hash[#hash + 1] = number[items_priority_text] end
  if lock_of[i] then hash[#hash + 1] = 'deid'; hash[#hash + 1] = lock_of[i].record.id end
  redis.call('HSET', keys[i], unpack(hash))
  if priority > 0 then redis.call('HSET', priorities, id, priority) end
  return priority > 0 and priority or nil
end
