-- Adds jobs to wait, prioritized or delayed, each once; deduplicated and limited where asked for.
local opts = redis.call('HMGET', meta, 'paused', 'closing', 'events.max', 'limit')
if opts[2] then return redis.error_reply('EMQSTATE the queue is closing: obliterate has not ended') end
local events_text = opts[3]
--@include events
--@include sequence

-- Reads that also prove the type of everything written below.
redis.call('LLEN', wait)
redis.call('XLEN', events)
local marked = redis.call('ZCARD', marker)
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
redis.call('ZCARD', prioritized)
redis.call('HLEN', priorities)
redis.call('SCARD', extras)
--@include marker
--@include line
--@include delay
--@include admit
--@include record
--@include contend
--@include write_job
if jobs_n == 0 then return {} end
local retired = redis.call('ZMSCORE', trash, unpack(ids))
-- One EXISTS for the batch: where nothing stands yet, no job needs a look of its own.
local some = redis.call('EXISTS', unpack(keys)) > 0

local function content(i)
  local row = items(i)
  local timestamp = items_number[ARGV[row + items_numbers]][items_timestamp_text]
  return { ARGV[row + items_name], ARGV[row + items_data], timestamp }
end

-- By id: the row that is written for it, or what stood there before.
local status, fresh, retires, seen, again, nth, refused = {}, {}, {}, {}, {}, 0, false
local none = {}
for i = 1, jobs_n do
  local id, row = ids[i], items_base + (i - 1) * items_w
  local number = items_number[ARGV[row + items_numbers]]
  local own = number[items_flags] >= 2
  if own then nth = nth + 1 end
  local old, trashed, twin = none, retired[i], seen[id]
  if type(twin) == 'number' and undone[twin] then twin = nil end
  if twin then
    old, trashed = type(twin) == 'table' and twin or content(twin), false
  elseif some then
    old = redis.call('HMGET', keys[i], 'name', 'data', 'timestamp')
  end
  local written = true
  status[i] = 'added'
  if trashed and own or not trashed and not old[1] then
    if lock_of[i] then
      status[i], written = contend(i, id)
    elseif most and not take_place() then
      status[i], written = full, false
    end
    refused = refused or status[i] == full
    if written then
      fresh[#fresh + 1] = i
      retires[#fresh] = trashed and nth or 0
    end
    seen[id] = written and i or nil
  elseif old[1] then
    seen[id] = old
    if old[1] ~= ARGV[row + items_name] or old[2] ~= ARGV[row + items_data]
      or old[3] ~= number[items_timestamp_text] then
      status[i] = 'duplicate'
      again[#again + 1] = id
    elseif lock_of[i] and lock_of[i].record.next == id then
      status[i] = 'held ' .. lock_of[i].record.job
    end
  end
  -- Else a minted id in trash: a resent add of a job that has already come and gone.
end
if whole == 1 and refused then return redis.error_reply('EMQFULL ' .. why_full) end

local first_due = tonumber(head[2])
for n = 1, #fresh do
  local i = fresh[n]
  if not undone[i] then
    local id, row = ids[i], items_base + (i - 1) * items_w
    local priority = write_job(i, retires[n])
    local number = items_number[ARGV[row + items_numbers]]
    local delay = number[items_delay]
    local due = number[items_timestamp] + delay
    if lock_of[i] and lock_of[i].record.after == i then
      redis.call('ZADD', held, now, id)
    elseif delay > 0 then
      put_off(id, due)
      if not first_due or due < first_due then first_due = due end
      emit('d', id, string.format('%.0f', due))
    else
      line_up(id, priority, number[items_flags] % 2 == 1 and 'newest')
      emit('w', id, ARGV[row + items_name])
    end
  end
end
flush_line()
save_sequence()
--@include save_records
if not opts[1] then
  arm(in_line)
  if first_due and first_due ~= tonumber(head[2]) then arm_due(first_due) end
end
for i = 1, #again do emit('u', again[i], '') end
--@include tell_locks
flush_events()
return status
