-- Names the job that holds each deduplication record, if the record is valid.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, trash = KEYS[2], KEYS[3]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local dedups_n, holders_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  dedups_n = b0 * 100 + b1 * 10 + b2 - 5328
  holders_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if dedups_n > 100 then bad = bad or 'dedups' end
if holders_n > 100 then bad = bad or 'holders' end
local dedups_at, dedups_w = 3, 1
local dedups_id = #stamp - 4 + #'v2:dedup:' + 1
local holders_at, holders_w = dedups_at + dedups_n * dedups_w, 1
local holders_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= holders_at + holders_n * holders_w then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
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
if dedups_n ~= holders_n then return redis.error_reply('EMQARG holders') end
redis.call('ZCARD', trash)
local out = {}
for i = 1, dedups_n do
  local record = read_record(KEYS[dedups_at + i], KEYS[holders_at + i])
  if record.moved then return redis.error_reply('EMQRETRY ' .. record.job) end
  out[i] = record.job or false
end
return out
