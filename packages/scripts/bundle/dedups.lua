-- Finds deduplication records without expiry whose job is gone; removes them when asked to.
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
if #ARGV[1] ~= 9 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local records_n, jobs_n, fix
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8 = string.byte(ARGV[1], 1, 9)
  records_n = b0 * 100 + b1 * 10 + b2 - 5328
  jobs_n = b3 * 100 + b4 * 10 + b5 - 5328
  fix = b6 * 100 + b7 * 10 + b8 - 5328
end
if records_n > 100 then bad = bad or 'records' end
if jobs_n > 100 then bad = bad or 'jobs' end
if fix > 1 then bad = bad or 'fix' end
local records_at, records_w = 3, 1
local records_id = #stamp - 4 + #'v2:dedup:' + 1
local jobs_at, jobs_w = records_at + records_n * records_w, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
if records_n ~= jobs_n then return redis.error_reply('EMQARG jobs') end
redis.call('ZCARD', trash)
local out = {}
for i = 1, records_n do
  local record, job = KEYS[records_at + i], KEYS[jobs_at + i]
  local id = string.sub(job, jobs_id)
  local held = redis.pcall('HMGET', record, 'job', 'next')
  local name = redis.pcall('HEXISTS', job, 'name')
  out[i] = 'kept'
  if held.err then
    out[i] = 'wrong'
  elseif held[1] ~= id then
    out[i] = held[1] and 'moved' or 'gone'
  elseif (name == 0 or redis.call('ZSCORE', trash, id)) and redis.call('PTTL', record) == -1 then
    -- A successor is still owed its place: that record is told, not removed.
    out[i] = held[2] and 'owing' or 'stray'
    if fix == 1 and not held[2] then redis.call('UNLINK', record) end
  end
end
return out
