-- Deduplication and the length limit. `born` is the item of this call that holds a record, `after` the
-- one that is kept back behind its holder: items of one call see each other.
local records, lock_of, undone, dropped, left_from, used = {}, {}, {}, {}, {}, 0
if dedups_n ~= locks_n then return redis.error_reply('EMQARG locks') end
if locks_n > 0 then
  redis.call('ZCARD', held)
  redis.call('ZCARD', active)
end
for l = 1, locks_n do
  local row, key = locks(l), KEYS[dedups_at + l]
  local number = locks_number[ARGV[row + locks_numbers]]
  local i, nth = number[locks_item], number[locks_holder]
  if i < 1 or i > jobs_n or lock_of[i] then return redis.error_reply('EMQARG locks.item') end
  if nth > holders_n then return redis.error_reply('EMQARG locks.holder') end
  if not records[key] then
    records[key] = read_record(key, nth > 0 and KEYS[holders_at + nth])
    if records[key].moved then return redis.error_reply('EMQRETRY ' .. records[key].job) end
  end
  lock_of[i] = { record = records[key], number = number }
end

local most = tonumber(opts[4])
if most and not (most >= 1 and most <= 9007199254740991) then most = nil end
if most then
  used = redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) + redis.call('ZCARD', delayed)
end
local why_full = most and string.format('the queue is full: its limit is %.0f', most) or 'limit'
local full = most and 'EMQFULL ' .. why_full

-- Takes a place in the queue, or tells that there is none.
local function take_place()
  if most and used >= most then return false end
  used = used + 1
  return true
end

local contend
if locks_n > 0 then
  local function drop(id, from)
    dropped[#dropped + 1] = id
    left_from[#dropped] = from
  end

  -- The newer job takes the part of the one that was kept back.
  local function drop_next(record)
    if record.after then undone[record.after] = true
    elseif record.next and redis.call('ZSCORE', held, record.next) then drop(record.next, 'held') end
    record.next, record.after, record.cleared = nil, nil, true
  end

  local function hold(record, i, id)
    drop_next(record)
    record.job, record.born, record.changed = id, i, true
  end

  local function put_off_now(record)
    if record.born then
      return items_number[ARGV[items(record.born) + items_numbers]][items_delay] > 0
    end
    return redis.call('ZSCORE', delayed, record.job)
  end

  -- What becomes of a new job with a deduplication id; whether it is written.
  contend = function(i, id)
    local record, number = lock_of[i].record, lock_of[i].number
    local flags, ttl = number[locks_flags], number[locks_ttl]
    local extend, replace, last = flags % 2 == 1, flags % 4 >= 2, flags >= 4
    if last then ttl = 0 end
    if not record.job then
      if not take_place() then return full, false end
      hold(record, i, id)
      record.ttl = ttl
      return 'added', true
    end
    local other = record.job
    if replace and put_off_now(record) then
      local instead = other
      if record.born then
        -- Never written: what it replaced is what this one replaces.
        undone[record.born], instead = true, lock_of[record.born].instead
      else
        drop(other, 'delayed')
      end
      hold(record, i, id)
      if ttl == 0 or extend then record.ttl = ttl end
      lock_of[i].instead = instead
      return instead and 'replaced ' .. instead or 'added', true
    end
    if last and not record.born and redis.call('ZSCORE', active, other) then
      drop_next(record)
      record.next, record.after, record.ttl, record.changed = id, i, 0, true
      return 'held ' .. other, true
    end
    -- A record that owes a successor its place must not run out.
    if extend and ttl > 0 and not replace and not record.next then
      record.ttl, record.changed = ttl, true
    end
    return 'deduplicated ' .. other, false
  end
end
