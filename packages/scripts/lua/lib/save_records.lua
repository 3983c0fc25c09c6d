-- Writes what became of the records, after the jobs, so that no record stands without one.
if locks_n > 0 then
  local function save_record(record)
    local i = record.after
    redis.call('HSET', record.key, 'job', record.job)
    if record.cleared then redis.call('HDEL', record.key, 'next', 'due', 'front') end
    if i then
      local number, due = items_number[ARGV[items(i) + items_numbers]], 0
      if number[items_delay] > 0 then due = number[items_timestamp] + number[items_delay] end
      redis.call('HSET', record.key, 'next', record.next, 'due', string.format('%.0f', due),
        'front', number[items_flags] % 2)
    end
    if record.ttl and record.ttl > 0 then
      redis.call('PEXPIRE', record.key, string.format('%.0f', record.ttl))
    elseif record.ttl then
      redis.call('PERSIST', record.key)
    end
  end

  for l = 1, locks_n do
    local record = records[KEYS[dedups_at + l]]
    if record.changed then save_record(record) end
    record.changed = false
  end
  if #dropped > 0 then
    redis.call('ZREM', delayed, unpack(dropped))
    redis.call('ZREM', held, unpack(dropped))
    redis.call('HDEL', priorities, unpack(dropped))
    local dead = {}
    for n = 1, #dropped do
      dead[#dead + 1] = now
      dead[#dead + 1] = dropped[n]
      emit('x', dropped[n], left_from[n])
    end
    redis.call('ZADD', trash, unpack(dead))
  end
end
