-- Ends runs in any way: completed, failed, retried, delayed or given back.
local opts = redis.call('HMGET', meta, 'paused', 'events.max', 'concurrency')
local events_text = opts[2]
--@include lease
--@include events
--@include sequence
--@include line
--@include delay
--@include retain

if jobs_n ~= items_n then return redis.error_reply('EMQARG items') end
if jobs_n == 0 then return { {}, {} } end
local HOW = { completed = 1, failed = 1, retry = 1, delay = 1, release = 1 }
for i = 1, items_n do
  if not HOW[ARGV[items(i) + items_how]] then return redis.error_reply('EMQARG items.how') end
  local number = items_number[ARGV[items(i) + items_numbers]]
  if now + number[items_delay] > 8640000000000000 then return redis.error_reply('EMQARG items.delay') end
  if number[items_lock] > dedups_n then return redis.error_reply('EMQARG items.lock') end
end

-- Reads that also prove the type of everything written below.
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local owner = redis.call('HMGET', owners, unpack(ids))
local rank = redis.call('HMGET', priorities, unpack(ids))
local extra = redis.call('SMISMEMBER', extras, unpack(ids))
local marked = redis.call('ZCARD', marker)
--@include marker
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
local why = redis.call('HLEN', verdicts) > 0 and redis.call('HMGET', verdicts, unpack(ids)) or {}
redis.call('LLEN', wait)
redis.call('XLEN', events)
redis.call('HLEN', outbox)
redis.call('ZCARD', outbox_due)
for _, set in ipairs({ prioritized, active, completed, failed, trash }) do redis.call('ZCARD', set) end

local first_due = tonumber(head[2])
--@include ends
--@include release

-- Freeing memory comes first, or maxmemory would refuse the whole call.
if #settled > 0 then
  redis.call('ZREM', active, unpack(settled))
  redis.call('HDEL', owners, unpack(settled))
end
if #ended > 0 then
  redis.call('HDEL', verdicts, unpack(ended))
  redis.call('HDEL', priorities, unpack(ended))
end
local kept = {}
for n = 1, #runs do
  local i, key, row, at, how = unpack(runs[n])
  local id, value = ids[i], ARGV[row + items_value]
  local final = how == 'completed' or how == 'failed'
  local number = items_number[ARGV[row + items_numbers]]
  local delay = number[items_delay]
  local count = how == 'completed' and keepCount or failCount
  if final and count == 0 then
    if extra[i] == 1 then
      -- Tells bury that the job ended: its throttle goes on without it.
      redis.call('HSET', key, 'finishedOn', string.format('%.0f', now))
      redis.call('ZADD', trash, now, id)
      to_bury[#to_bury + 1] = id
    else
      redis.call('UNLINK', key)
    end
  elseif how ~= 'release' then
    local hash = { 'processedOn', at, 'atm', number[items_atm_text], 'ats', number[items_ats_text] }
    local function field(name, text)
      if text ~= '' then hash[#hash + 1] = name; hash[#hash + 1] = text end
    end
    field(how == 'completed' and 'returnvalue' or 'failedReason', value)
    field('stacktrace', ARGV[row + items_stack])
    if final then field('finishedOn', string.format('%.0f', now)) end
    if how == 'delay' and not why[i] then field('delay', number[items_delay_text]) end
    redis.call('HSET', key, unpack(hash))
    if final then
      redis.call('ZADD', how == 'completed' and completed or failed, now, id)
      kept[how] = true
    end
  end
  -- What must end goes ahead of all lines, wherever its run sent it.
  if how == 'delay' and not why[i] then
    put_off(id, now + delay)
    if not first_due or now + delay < first_due then first_due = now + delay end
    emit('d', id, string.format('%.0f', now + delay))
  elseif how == 'delay' or how == 'retry' then
    line_up(id, not why[i] and rank_of(rank[i]), why[i] and 'front')
    -- Without a reason nothing failed: the job put itself back.
    emit(value == '' and 'w' or 'r', id, value)
  elseif how == 'release' then
    line_up(id, not why[i] and rank_of(rank[i]), 'front')
    emit('w', id, '')
  else
    emit(how == 'completed' and 'c' or 'f', id, value)
    -- Owed to another queue from this step on; any worker of this one delivers it.
    if how == 'failed' and ARGV[row + items_letter] ~= '' then
      local effect = 'letter:' .. ARGV[row + items_token] .. ':' .. id
      redis.call('HSET', outbox, effect, ARGV[row + items_letter])
      redis.call('ZADD', outbox_due, now, effect)
    end
  end
end
for n = 1, #over do release(over[n]) end
flush_line()
save_sequence()
if kept.completed then retain(completed, keepCount, keepAge) end
if kept.failed then retain(failed, failCount, failAge) end
if not opts[1] then
  -- Under a limit every end makes room, and somebody may be waiting for it.
  if opts[3] and marked == 0 and #in_line == 0 then in_line = next_up() end
  arm(in_line)
  if first_due and first_due ~= tonumber(head[2]) then arm_due(first_due) end
end
flush_events()
return { statuses, to_bury }
