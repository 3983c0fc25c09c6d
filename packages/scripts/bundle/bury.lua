-- Removes every key of jobs that are in trash. An id that is not is somebody's again and is left alone.
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
local meta, trash, extras, held, priorities = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 9 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, dedups_n, locks_n
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8 = string.byte(ARGV[1], 1, 9)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  dedups_n = b3 * 100 + b4 * 10 + b5 - 5328
  locks_n = b6 * 100 + b7 * 10 + b8 - 5328
end
if jobs_n > 100 then bad = bad or 'jobs' end
if dedups_n > 100 then bad = bad or 'dedups' end
if locks_n > 100 then bad = bad or 'locks' end
local jobs_at, jobs_w = 6, 5
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local dedups_at, dedups_w = jobs_at + jobs_n * jobs_w, 1
local dedups_id = #stamp - 4 + #'v2:dedup:' + 1
local locks_base, locks_w = 1, 1
local function locks(row) return locks_base + (row - 1) * locks_w end
local locks_job = 1
if not bad and #KEYS ~= dedups_at + dedups_n * dedups_w then bad = 'keys' end
if not bad and #ARGV ~= locks_base + locks_n * locks_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = locks_base, locks_base + (locks_n - 1) * locks_w, locks_w do
  local text = ARGV[row + 1]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG locks.job') end
  end
  if number[text] > 100 then bad = bad or 'locks.job' end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
redis.call('ZCARD', trash)
redis.call('ZCARD', held)
redis.call('SCARD', extras)
redis.call('HLEN', priorities)
redis.call('HLEN', meta)
if dedups_n ~= locks_n then return redis.error_reply('EMQARG locks') end
local record_of = {}
for l = 1, locks_n do
  local i, key = tonumber(ARGV[locks(l) + locks_job]), KEYS[dedups_at + l]
  if i < 1 or i > jobs_n then return redis.error_reply('EMQARG locks.job') end
  local said = redis.pcall('HMGET', key, 'job', 'next')
  local ended = redis.pcall('HEXISTS', KEYS[jobs_at + (i - 1) * jobs_w + 1], 'finishedOn') == 1
  -- A throttle goes on behind a job that ended; one that never ran takes it along.
  if not said.err and not (ended and redis.call('PTTL', key) >= 0) then
    record_of[i] = { key = key, job = said[1], next = said[2] }
  end
end
local buried = 0
for i = 1, jobs_n do
  local at = jobs_at + (i - 1) * jobs_w
  local id = string.sub(KEYS[at + 1], jobs_id)
  local since = redis.call('ZSCORE', trash, id)
  if redis.call('ZREM', trash, id) == 1 then
    redis.call('UNLINK', KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4], KEYS[at + 5])
    redis.call('SREM', extras, id)
    buried = buried + 1
    local record = record_of[i]
    if record and record.job == id then
      redis.call('UNLINK', record.key)
      -- What it kept back goes with it.
      if record.next and redis.call('ZREM', held, record.next) == 1 then
        redis.call('HDEL', priorities, record.next)
        redis.call('ZADD', trash, since, record.next)
      end
    end
  end
end
if buried > 0 and redis.call('SCARD', extras) == 0 then redis.call('HDEL', meta, 'extras') end
return buried
