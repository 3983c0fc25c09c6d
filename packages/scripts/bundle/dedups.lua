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
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
local odd, whole = string.gsub(ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 3 then
  for _, arg in ipairs({ { 1, 'records' }, { 2, 'jobs' }, { 3, 'fix' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local records_n = ARGV[1] + 0
if records_n > 100 then bad = bad or 'records' end
local jobs_n = ARGV[2] + 0
if jobs_n > 100 then bad = bad or 'jobs' end
local fix = ARGV[3] + 0
if fix > 1 then bad = bad or 'fix' end
local records_at, records_w = 3, 1
local records_id = #stamp - 4 + #'v2:dedup:' + 1
local jobs_at, jobs_w = records_at + records_n * records_w, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
