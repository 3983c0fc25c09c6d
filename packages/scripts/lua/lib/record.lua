-- Reads a deduplication record. With a TTL it is valid until then; without one only while its holder's
-- hash stands, has not ended and names the record itself. `job` is nil where the record is free.
local function read_record(key, holder)
  local id = string.sub(key, dedups_id)
  local said = redis.call('HMGET', key, 'job', 'next')
  local left = redis.call('PTTL', key)
  local record = { key = key, id = id, job = said[1] or nil, next = said[2] or nil, left = left }
  -- What no call can name holds nothing.
  if record.job and (#record.job > 512 or not string.find(record.job, '^[^%c]+$')) then
    record.job = nil
  end
  if not record.job or left >= 0 then return record end
  if not holder or string.sub(holder, holders_id) ~= record.job then
    record.moved = true
    return record
  end
  local job = redis.call('HMGET', holder, 'deid', 'finishedOn')
  if job[1] ~= id or job[2] or redis.call('ZSCORE', trash, record.job) then record.job = nil end
  return record
end
